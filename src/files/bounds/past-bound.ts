import { createContext, Script } from 'node:vm';

/** Work that exceeded a bound, which the message names. */
export class PastBound extends Error {
  readonly code = 'PAST_BOUND';
}

/**
 * Runs something that the engine itself stops: no count of steps reaches into a regular expression.
 *
 * @param what begins the message
 * @param leftMs what is left of the limit; default all of it
 * @throws {PastBound} if it takes longer
 */
export function withinTime<T>(what: string, limitMs: number, action: () => T, leftMs = limitMs): T {
  const result: { value?: T } = {};
  const context = createContext({
    run: () => {
      result.value = action();
    },
  });
  try {
    new Script('run()').runInContext(context, { timeout: Math.max(1, Math.ceil(leftMs)) });
  } catch (error) {
    // It comes from the other context, and is not an Error of this one.
    if ((error as { code?: unknown } | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw pastTime(what, limitMs);
  }
  return result.value as T;
}

export function pastTime(what: string, limitMs: number): PastBound {
  return new PastBound(`${what} takes longer than ${limitMs / 1000} s`);
}
