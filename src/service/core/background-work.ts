import { type Clock, within } from './clock.ts';

/** Work that has to end before something can be closed. */
export class PendingWork {
  readonly #work = new Set<Promise<unknown>>();

  /** Counts the work until it ends, and passes on how it ends. */
  async track<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work);
    try {
      return await work;
    } finally {
      this.#work.delete(work);
    }
  }

  /** Resolves once nothing is left, what is added meanwhile included. */
  async ended(): Promise<void> {
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
  }

  /** The same, but for no longer than `ms`. */
  async endedWithin(ms: number, clock: Clock): Promise<void> {
    if (ms > 0 && this.#work.size > 0) await within(ms, clock, this.ended());
  }
}

/** Waits between attempts, in milliseconds; the last is repeated. */
const WAITS_MS = [250, 1000, 5000, 15_000] as const;

/**
 * Tries until it works, once at least: a full disk may have room again. Gives undefined once the signal is aborted.
 *
 * @param options.onFault is called with the error of every failed attempt
 */
export async function retryForever<T>(
  work: () => Promise<T>,
  { clock, signal, onFault }: { clock: Clock; signal: AbortSignal; onFault: (error: unknown) => void },
): Promise<T | undefined> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      onFault(error);
      if (signal.aborted) return undefined;
      await clock.sleep(WAITS_MS[Math.min(attempt, WAITS_MS.length - 1)] ?? 0, signal).catch(() => {});
    }
  }
}
