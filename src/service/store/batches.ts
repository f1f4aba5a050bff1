/** Carries out what came in together; resolves with a result for each item, or rejects for all. */
type CarryOut<T, R> = (items: readonly T[]) => Promise<readonly R[]>;

interface Waiting<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects items while those before them of the same key are being carried out, so that a key needs one connection at a
 * time, and what waits needs none.
 */
export class Batches<T, R> {
  readonly #waiting = new Map<string, Waiting<T, R>[]>();
  readonly #carryOut: CarryOut<T, R>;
  readonly #most: number;

  constructor(carryOut: CarryOut<T, R>, most: number) {
    this.#carryOut = carryOut;
    this.#most = most;
  }

  add(key: string, item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(key);
      if (waiting) {
        waiting.push({ item, resolve, reject });
        return;
      }
      this.#waiting.set(key, [{ item, resolve, reject }]);
      // Whatever else is ready in this turn of the event loop joins.
      setImmediate(() => void this.#work(key));
    });
  }

  async #work(key: string): Promise<void> {
    for (;;) {
      const batch = this.#waiting.get(key)?.splice(0, this.#most) ?? [];
      if (batch.length === 0) {
        this.#waiting.delete(key);
        return;
      }
      try {
        const results = await this.#carryOut(batch.map(({ item }) => item));
        for (const [at, { resolve }] of batch.entries()) resolve(results[at] as R);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
  }
}
