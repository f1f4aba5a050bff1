/** A clock, injected so that tests need not wait. */
export interface Clock {
  /** Returns milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason once it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The clock of this machine. Node's own promised timer would make an error with a stack for each sleep that is ended. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const end = (): void => {
        clearTimeout(timer);
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', end);
        resolve();
      }, ms);
      signal?.addEventListener('abort', end, { once: true });
    }),
};

/** Returns the result of `work`, or undefined if it takes longer than `ms`. */
export async function resultWithin<T>(
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
