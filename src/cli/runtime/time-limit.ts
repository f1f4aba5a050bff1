import type { Clock } from '../core/types.ts';
import { TimeIsUp } from '../errors.ts';

/** The time that a command may take, from now on. */
export interface TimeLimit {
  /** Aborted with a `TimeIsUp` once the time is over. */
  readonly signal: AbortSignal;
  /** In milliseconds; infinite without a limit. */
  readonly timeLeftMs: () => number;
  /** Stops the timer. */
  readonly stop: () => void;
}

/** @param limitMs undefined sets no limit */
export function startTimeLimit(clock: Clock, limitMs: number | undefined): TimeLimit {
  const over = new AbortController();
  const stopped = new AbortController();
  const endsAt = limitMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + limitMs;
  if (limitMs !== undefined) {
    clock.sleep(limitMs, stopped.signal).then(
      () => over.abort(new TimeIsUp()),
      () => {},
    );
  }
  return {
    signal: over.signal,
    timeLeftMs: () => Math.max(0, endsAt - clock.now()),
    stop: () => stopped.abort(),
  };
}
