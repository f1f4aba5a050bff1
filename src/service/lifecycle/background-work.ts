import type { Clock } from '../clock.ts';
import type { Media } from '../media/media.ts';
import type { InputFiles } from '../runs/input-files.ts';
import type { Store } from '../store/store.ts';

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
    if (ms === 0 || this.#work.size === 0) return;
    const enough = new AbortController();
    const ended = this.ended().then(() => enough.abort(new Error('everything has ended')));
    await Promise.race([ended, clock.sleep(ms, enough.signal).catch(() => {})]);
  }
}

/** Waits between attempts, in milliseconds; the last is repeated. */
const WAITS_MS = [250, 1000, 5000, 15_000] as const;

interface RetryForeverOptions {
  clock: Clock;
  signal: AbortSignal;
  /** Called with the error of every failed attempt. */
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

export interface HousekeepingOptions {
  store: Store;
  media: Media;
  inputs: InputFiles;
  clock: Clock;
  onFault: (error: unknown) => void;
}

const EVERY_MS = 60 * 60 * 1000;

/** Clears away what has expired or was left behind, now and every hour until `stop` is aborted. */
export async function runHousekeeping(options: HousekeepingOptions, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    await clearAway(options).catch(options.onFault);
    await options.clock.sleep(EVERY_MS, stop).catch(() => {});
  }
}

async function clearAway({ store, media, inputs, clock }: HousekeepingOptions): Promise<void> {
  await media.sweep();
  await inputs.sweep();
  await store.runs.forgetKeys(clock.now());
  await store.workers.sweep();
}
