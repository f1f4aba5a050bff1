import type { Clock } from '../clock.ts';

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
