import { EventEmitter } from 'node:events';
import type { NewRun } from '../../store/runs/run-records.ts';

/** A piece of a run's text while its model produces it. */
export interface TextPiece {
  readonly runId: string;
  /** The creation's key, by which the caller knows the run before the creation is answered. */
  readonly idempotencyKey: string | undefined;
  readonly text: string;
}

/** Emits the text of runs while models produce it, if anything listens. */
export class TextFeed extends EventEmitter<{ text: [TextPiece] }> {
  /** Returns a function that emits pieces of a run's text; undefined if nothing listens. */
  createEmitter({
    id: runId,
    idempotency,
  }: Pick<NewRun, 'id' | 'idempotency'>): ((text: string) => void) | undefined {
    if (this.listenerCount('text') === 0) return undefined;
    return text => this.emit('text', { runId, idempotencyKey: idempotency?.key, text });
  }
}
