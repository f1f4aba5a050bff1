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
export class LaneBatcher<T, R> {
  /** The waiting items of each working lane, by owner. */
  readonly #lanes = new Map<string, Map<string, QueuedItem<T, R>[]>>();
  readonly #processBatch: ProcessBatch<T, R>;
  readonly #maxBatchSize: number;

  constructor(processBatch: ProcessBatch<T, R>, maxBatchSize: number) {
    this.#processBatch = processBatch;
    this.#maxBatchSize = maxBatchSize;
  }

  /** Returns true while items of a lane wait or are processed. */
  isWorking(lane: string): boolean {
    return this.#lanes.has(lane);
  }

  /** Adds an item to a lane. Resolves with its result. */
  add(lane: string, item: T, owner = lane): Promise<R> {
    return new Promise((resolve, reject) => {
      const workingLane = this.#lanes.get(lane);
      const itemsByOwner = workingLane ?? new Map<string, QueuedItem<T, R>[]>();
      const ownerItems = itemsByOwner.get(owner) ?? [];
      ownerItems.push({ item, resolve, reject });
      itemsByOwner.set(owner, ownerItems);
      if (workingLane) return;

      this.#lanes.set(lane, itemsByOwner);

      // Items added in the same turn of the event loop join this batch.
      setImmediate(() => void this.#work(lane, itemsByOwner));
    });
  }

  async #work(lane: string, itemsByOwner: Map<string, QueuedItem<T, R>[]>): Promise<void> {
    while (true) {
      const batch = takeTurns(itemsByOwner, this.#maxBatchSize);
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

/** Removes and returns at most `max` items, one of each owner in turn. */
function takeTurns<T extends object>(itemsByOwner: Map<string, T[]>, max: number): T[] {
  const batch: T[] = [];
  for (const [owner, items] of itemsByOwner) {
    if (batch.length === max) break;
    const item = items.shift();
    if (item !== undefined) batch.push(item);
    // A map lists the key that was set last at its end, so the owner comes after all others.
    itemsByOwner.delete(owner);
    if (items.length > 0) itemsByOwner.set(owner, items);
  }
  return batch;
}
