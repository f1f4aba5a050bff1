import type { Clock, Env, GlobalOptions } from '../core/types.ts';
import type { Io } from './io.ts';

/** What is needed of a command's context to write to a terminal. */
export interface TerminalContext {
  readonly io: Io;
  readonly globals: GlobalOptions;
  readonly env: Env;
  readonly cwd: string;
  readonly clock: Clock;
  /** Hands every signal to `handler` instead of aborting; returns how to hand them back. */
  onInterrupt(handler: (signal: 'SIGINT' | 'SIGTERM') => void): () => void;
}

/** Whether nothing may be drawn and redrawn: `ACCESSIBLE` is set, or the terminal can't. */
export function wantsPlainLines(env: Env): boolean {
  return Boolean(env['ACCESSIBLE']) || env['TERM'] === 'dumb';
}
