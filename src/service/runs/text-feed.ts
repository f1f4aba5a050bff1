import { EventEmitter } from 'node:events';
import type { NewRun } from '../store/run-records.ts';

/** A piece of a run's text, as its model produces it. */
export interface TextPiece {
  readonly runId: string;
  /** The key its creation was sent with, by which its caller knows it before the creation is answered. */
  readonly idempotencyKey: string | undefined;
  readonly text: string;
}

/** Gives out the text of runs while it is made, once somebody listens. */
export class TextFeed extends EventEmitter<{ text: [TextPiece] }> {
  /** Where the pieces of a run's text go; undefined where nobody listens. */
  of({ id: runId, idempotency }: Pick<NewRun, 'id' | 'idempotency'>): ((text: string) => void) | undefined {
    if (this.listenerCount('text') === 0) return undefined;
    return text => this.emit('text', { runId, idempotencyKey: idempotency?.key, text });
  }
}
