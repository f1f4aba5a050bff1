import { setImmediate } from 'node:timers/promises';
import { type Clock, waitAtMost } from './clock.ts';

/** Waits between attempts, in milliseconds; the last one repeats. */
const RETRY_WAITS_MS = [250, 1000, 5000, 15_000] as const;

/** Tracks work that has to end before something can be closed. */
export class PendingWork {
  readonly #work = new Set<Promise<unknown>>();

  /** Counts the work until it ends, and resolves or rejects like it. */
  async track<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work);
    try {
      return await work;
    } finally {
      this.#work.delete(work);
    }
  }

  /** Resolves once no work is left, including work that is added meanwhile. */
  async waitForAll(): Promise<void> {
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
  }

  /** Waits like `waitForAll`, but at most `ms` milliseconds. */
  async waitForAllWithin(ms: number, clock: Clock): Promise<void> {
    if (ms > 0 && this.#work.size > 0) await waitAtMost(ms, clock, this.waitForAll());
  }
}

/**
 * Tries at least once and until the work succeeds: a full disk may get room again. Returns
 * undefined if aborted.
 *
 * @param options.onFault called with the error of every failed attempt
 */
export async function retryForever<T>(
  work: () => Promise<T>,
  {
    clock,
    signal,
    onFault,
  }: { clock: Clock; signal: AbortSignal; onFault: (error: unknown) => void },
): Promise<T | undefined> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      onFault(error);
      if (signal.aborted) return undefined;
      const waitMs = RETRY_WAITS_MS[Math.min(attempt, RETRY_WAITS_MS.length - 1)] ?? 0;
      await clock.sleep(waitMs, signal).catch(() => {});
    }
  }
}

/** Lets events that are due go first, such as the requests of others. */
export async function yieldToEvents(): Promise<void> {
  // The first turn may end before new events are read.
  await setImmediate();
  await setImmediate();
}
