/** Processes a batch. Resolves with a result for each item, or rejects for all of them. */
type ProcessBatch<T, R> = (items: readonly T[]) => Promise<readonly R[]>;

interface QueuedItem<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Batches items by key: items that arrive while a batch of their key is processed form the next one. A key thus uses one
 * connection at a time, and waiting items use none.
 */
export class Batches<T, R> {
  readonly #waiting = new Map<string, QueuedItem<T, R>[]>();
  readonly #processBatch: ProcessBatch<T, R>;
  readonly #maxSize: number;

  constructor(processBatch: ProcessBatch<T, R>, maxSize: number) {
    this.#processBatch = processBatch;
    this.#maxSize = maxSize;
  }

  add(key: string, item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(key);
      if (waiting) {
        waiting.push({ item, resolve, reject });
        return;
      }
      this.#waiting.set(key, [{ item, resolve, reject }]);
      // Items added in the same turn of the event loop join this batch.
      setImmediate(() => void this.#work(key));
    });
  }

  async #work(key: string): Promise<void> {
    for (;;) {
      const batch = this.#waiting.get(key)?.splice(0, this.#maxSize) ?? [];
      if (batch.length === 0) {
        this.#waiting.delete(key);
        return;
      }
      try {
        const results = await this.#processBatch(batch.map(({ item }) => item));
        for (const [index, { resolve }] of batch.entries()) resolve(results[index] as R);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
  }
}
