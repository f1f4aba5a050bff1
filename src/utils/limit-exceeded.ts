import { createContext, isContext, runInContext } from 'node:vm';

/** Work that exceeded a limit; the message names the limit. */
export class LimitExceededError extends Error {
  readonly code = 'PAST_BOUND';
}

/** The one context in which V8 calls actions: making one takes longer than most of them. */
const timedAction: { run?: () => void } = {};

/**
 * Runs an action that V8 itself stops at a time limit: counting steps can't stop a regular
 * expression.
 *
 * @param subject the subject of the message
 * @param leftMs the rest of the limit, in milliseconds; default all of it
 * @throws {LimitExceededError} if it takes longer
 */
export function runWithinTime<T>(
  subject: string,
  limitMs: number,
  action: () => T,
  leftMs = limitMs,
): T {
  const result: { value?: T } = {};
  timedAction.run = () => {
    result.value = action();
  };

  const context = isContext(timedAction) ? timedAction : createContext(timedAction);
  try {
    runInContext('run()', context, { timeout: Math.max(1, Math.ceil(leftMs)) });
  } catch (error) {
    // The error is from the other context, so `instanceof Error` is false.
    if ((error as { code?: unknown } | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw pastTimeError(subject, limitMs);
  } finally {
    delete timedAction.run;
  }

  return result.value as T;
}

export function pastTimeError(subject: string, limitMs: number): LimitExceededError {
  return new LimitExceededError(`${subject} takes longer than ${limitMs / 1000} s`);
}
