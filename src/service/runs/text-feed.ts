/** A piece of a run's text, as its model produces it. */
export interface TextPiece {
  readonly runId: string;
  /** The key its creation was sent with, by which its caller knows it before the creation is answered. */
  readonly idempotencyKey: string | undefined;
  readonly text: string;
}

/** The listeners to the text of runs while it is made. */
export class TextFeed {
  readonly #listeners = new Set<(piece: TextPiece) => void>();
  readonly #keys = new Map<string, string | undefined>();

  /** Models that can stream do so from now on; returns how to stop listening. */
  listen(listener: (piece: TextPiece) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Says which creation a run came of, before it is started. */
  announce(runId: string, idempotencyKey: string | undefined): void {
    if (this.#listeners.size > 0) this.#keys.set(runId, idempotencyKey);
  }

  /** Where the pieces of a run's text go; undefined where nobody listens. */
  of(runId: string): ((text: string) => void) | undefined {
    if (this.#listeners.size === 0) return undefined;
    const idempotencyKey = this.#keys.get(runId);
    return text => {
      for (const listener of this.#listeners) listener({ runId, idempotencyKey, text });
    };
  }

  /** No more of a run is to come. */
  end(runId: string): void {
    this.#keys.delete(runId);
  }
}
