import type { Outcome } from '../store/run-records.ts';

/** How a run ended; undefined where this process won't see it. */
export type Ending = Promise<Outcome | undefined>;

/** Those who wait for runs to end. */
export class Endings {
  readonly #waiting = new Map<string, (outcome: Outcome | undefined) => void>();

  of(runId: string): Ending {
    return new Promise(resolve => this.#waiting.set(runId, resolve));
  }

  report(runId: string, outcome: Outcome | undefined): void {
    this.#waiting.get(runId)?.(outcome);
    this.#waiting.delete(runId);
  }

  /** Nobody waits any longer. */
  giveUp(): void {
    for (const runId of this.#waiting.keys()) this.report(runId, undefined);
  }
}
