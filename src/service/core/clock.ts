import { setTimeout } from 'node:timers/promises';

/** The time and its passing, injected so that tests need neither. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason once it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    setTimeout(ms, undefined, signal && { signal }).catch(() => {
      throw signal?.reason;
    }),
};

/** What `work` gives, or undefined once `ms` are over. */
export async function within<T>(
  ms: number,
  clock: Clock,
  work: Promise<T> | undefined,
): Promise<T | undefined> {
  const ended = new AbortController();
  const timeIsOver = clock.sleep(ms, ended.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await Promise.race([work, timeIsOver]);
  } finally {
    ended.abort(new Error('the work has ended'));
  }
}
