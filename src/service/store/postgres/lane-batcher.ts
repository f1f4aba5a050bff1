/** Processes a batch. Resolves with a result for each item, or rejects for all of them. */
type ProcessBatch<T, R> = (items: readonly T[]) => Promise<readonly R[]>;

interface QueuedItem<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Batches items by lane: items that arrive while a batch of their lane is processed form the next
 * one. A lane thus uses one connection at a time, and waiting items use none. Owners who share a
 * lane take turns.
 */
export class WriteBatches<T, R> {
  /** The waiting items of each working lane, by owner. */
  readonly #lanes = new Map<string, Map<string, QueuedItem<T, R>[]>>();
  readonly #processBatch: ProcessBatch<T, R>;
  readonly #maxSize: number;

  constructor(processBatch: ProcessBatch<T, R>, maxSize: number) {
    this.#processBatch = processBatch;
    this.#maxSize = maxSize;
  }

  /** Returns true while items of a lane wait or are processed. */
  isWorking(lane: string): boolean {
    return this.#lanes.has(lane);
  }

  add(lane: string, item: T, owner = lane): Promise<R> {
    return new Promise((resolve, reject) => {
      const workingLane = this.#lanes.get(lane);
      const waitingItems = workingLane ?? new Map<string, QueuedItem<T, R>[]>();
      const ownerItems = waitingItems.get(owner) ?? [];
      ownerItems.push({ item, resolve, reject });
      waitingItems.set(owner, ownerItems);
      if (workingLane) return;

      this.#lanes.set(lane, waitingItems);

      // Items added in the same turn of the event loop join this batch.
      setImmediate(() => void this.#work(lane, waitingItems));
    });
  }

  async #work(lane: string, waitingItems: Map<string, QueuedItem<T, R>[]>): Promise<void> {
    while (true) {
      const batch = takeTurns(waitingItems, this.#maxSize);
      if (batch.length === 0) {
        this.#lanes.delete(lane);
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

/** Takes at most `max` items, one of each owner after the other. */
function takeTurns<T>(waitingItems: Map<string, T[]>, max: number): T[] {
  const batch: T[] = [];
  for (const [owner, items] of waitingItems) {
    if (batch.length === max) break;
    batch.push(...items.splice(0, 1));
    // Set again, the owner comes after all others.
    waitingItems.delete(owner);
    if (items.length > 0) waitingItems.set(owner, items);
  }
  return batch;
}
