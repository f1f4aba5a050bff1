import type { Clock } from '../clock.ts';

/** Waits between attempts, in milliseconds; the last is repeated. */
const WAITS_MS = [250, 1000, 5000, 15_000] as const;

export interface RetryForeverOptions {
  clock: Clock;
  signal: AbortSignal;
  /** Told of every failed attempt. */
  onFault: (error: unknown) => void;
}

/** Tries until it works, once at least: a full disk may have room again. Gives undefined once the signal is aborted. */
export async function retryForever<T>(
  work: () => Promise<T>,
  { clock, signal, onFault }: RetryForeverOptions,
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
