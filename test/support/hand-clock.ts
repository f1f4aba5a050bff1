import type { Clock } from '../../src/cli/core/clock.ts';

interface Sleeper {
  readonly ms: number;
  readonly until: number;
  readonly wake: () => void;
}

/**
 * A clock that moves only by hand. The methods of `Clock` are fields, because contexts are made of
 * copies by spread.
 */
export class HandClock implements Clock {
  #now: number;
  #sleepers: Sleeper[] = [];
  #watchers: { readonly ms: number; readonly count: number; readonly resolve: () => void }[] = [];

  constructor(now = Date.UTC(2026, 0, 2, 3, 4, 5)) {
    this.#now = now;
  }

  readonly now = (): number => this.#now;
  readonly random = (): number => 0.5;

  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    if (ms === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#sleepers = this.#sleepers.filter(other => other !== sleeper);
        reject(signal?.reason as Error);
      };

      const wake = (): void => {
        signal?.removeEventListener('abort', stop);
        resolve();
      };

      const sleeper = { ms, until: this.#now + ms, wake };
      if (signal?.aborted) return stop();

      signal?.addEventListener('abort', stop, { once: true });
      this.#sleepers.push(sleeper);
      this.#resolveWatchers();
    });
  };

  /** Moves the time on, and wakes whoever has slept long enough. */
  advance(ms: number): void {
    this.set(this.#now + ms);
  }

  /**
   * Lets time pass, and wakes each sleeper at its time. A sleeper may then do what takes no time, and
   * sleep again.
   */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    while (this.#nextWake() <= end) {
      this.set(Math.max(this.#now, this.#nextWake()));
      await settle();
    }
    this.set(end);
  }

  /** Jumps, forwards or back. */
  set(now: number): void {
    this.#now = now;
    const awake = this.#sleepers.filter(sleeper => sleeper.until <= now);
    this.#sleepers = this.#sleepers.filter(sleeper => sleeper.until > now);
    for (const sleeper of awake) sleeper.wake();
  }

  /** Waits until somebody sleeps for exactly `ms`; with a count, until so many do. */
  async waitForSleep(ms: number, count = 1): Promise<void> {
    await new Promise<void>(resolve => {
      this.#watchers.push({ ms, count, resolve });
      this.#resolveWatchers();
    });
  }

  /** Returns the time at which the next sleeper wakes; infinity if nobody sleeps. */
  #nextWake(): number {
    return Math.min(...this.#sleepers.map(({ until }) => until));
  }

  #resolveWatchers(): void {
    const fulfilled = this.#watchers.filter(
      ({ ms, count }) => this.#sleepers.filter(sleeper => sleeper.ms === ms).length >= count,
    );
    this.#watchers = this.#watchers.filter(watcher => !fulfilled.includes(watcher));
    for (const { resolve } of fulfilled) resolve();
  }
}

/** Waits until everything is done that needs no time to pass. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise(resolve => setImmediate(resolve));
  }
}
