import type { NewRun } from '../store/run-records.ts';

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

  /** Models that can stream do so from now on; returns how to stop listening. */
  listen(listener: (piece: TextPiece) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Where the pieces of a run's text go; undefined where nobody listens. */
  of({ id: runId, idempotency }: Pick<NewRun, 'id' | 'idempotency'>): ((text: string) => void) | undefined {
    if (this.#listeners.size === 0) return undefined;
    return text => {
      for (const listener of this.#listeners) listener({ runId, idempotencyKey: idempotency?.key, text });
    };
  }
}
