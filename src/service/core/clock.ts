import { sleep } from '../../utils/abort-signals.ts';

/** A clock, injected so that tests need not wait. */
export interface Clock {
  /** Returns milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason once it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const serviceClock: Clock = { now: () => Date.now(), sleep };

/** Returns the result of `work`, or undefined if it takes longer than `ms`. */
export async function waitAtMost<T>(
  ms: number,
  clock: Clock,
  work: Promise<T> | undefined,
): Promise<T | undefined> {
  const waitEnded = new AbortController();
  const timeout = clock.sleep(ms, waitEnded.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await Promise.race([work, timeout]);
  } finally {
    waitEnded.abort(new Error('the work has ended'));
  }
}
