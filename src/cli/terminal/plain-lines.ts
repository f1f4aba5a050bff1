import type { Env } from '../core/types.ts';

/** Whether nothing may be drawn and redrawn: `ACCESSIBLE` is set, or the terminal can't. */
export function wantsPlainLines(env: Env): boolean {
  return Boolean(env['ACCESSIBLE']) || env['TERM'] === 'dumb';
}
