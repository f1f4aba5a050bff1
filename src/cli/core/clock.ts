/** Time and randomness, injected for tests. */
export interface Clock {
  /** Returns milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason once it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  random(): number;
}

/**
 * Returns a function that gives the time but never goes back, so that setting the clock back
 * prolongs no wait.
 */
export function createSteadyTime(clock: { now(): number }): () => number {
  let latestTime = clock.now();
  let setBackMs = 0;
  return () => {
    const time = clock.now() + setBackMs;
    if (time < latestTime) setBackMs += latestTime - time;
    latestTime = Math.max(latestTime, time);
    return latestTime;
  };
}
