import type { Clock } from '../core/types.ts';

/** Why a wait was given up: its time was over. */
export class TimeIsUp extends Error {
  override readonly name = 'TimeIsUp';
}

/** The time a command may wait, from now on. */
export interface Deadline {
  /** Aborted with a `TimeIsUp` once the time is over, or with the outer signal's reason. */
  readonly signal: AbortSignal;
  /** In milliseconds; undefined where there is no limit. */
  readonly remainingMs: () => number | undefined;
  /** Lets go of the timer. */
  stop(): void;
}

export function startDeadline(clock: Clock, timeoutMs: number | undefined, outer: AbortSignal): Deadline {
  if (timeoutMs === undefined) return { signal: outer, remainingMs: () => undefined, stop: () => {} };
  const startedAt = clock.now();
  const over = new AbortController();
  const stopped = new AbortController();
  clock.sleep(timeoutMs, AbortSignal.any([stopped.signal, outer])).then(
    () => over.abort(new TimeIsUp()),
    () => {},
  );
  return {
    signal: AbortSignal.any([outer, over.signal]),
    remainingMs: () => Math.max(0, timeoutMs - (clock.now() - startedAt)),
    stop: () => stopped.abort(),
  };
}
