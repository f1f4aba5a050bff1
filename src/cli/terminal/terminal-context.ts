import type { Env } from '../../utils/env.ts';
import type { Clock } from '../core/clock.ts';
import type { GlobalOptions } from '../core/global-options.ts';
import type { Io } from './io.ts';

/** The part of a command's context that output to a terminal needs. */
export interface TerminalContext {
  readonly io: Io;
  readonly globals: GlobalOptions;
  readonly env: Env;
  readonly cwd: string;
  readonly clock: Clock;
  /** Passes every signal to `handler` instead of aborting; returns a function that undoes this. */
  onInterrupt(handler: (signal: 'SIGINT' | 'SIGTERM') => void): () => void;
}

/** Returns true if nothing may be redrawn: `ACCESSIBLE` is set, or the terminal can't redraw. */
export function wantsPlainLines(env: Env): boolean {
  return Boolean(env['ACCESSIBLE']) || env['TERM'] === 'dumb';
}
