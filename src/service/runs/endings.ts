import type { Outcome, StoredRun } from '../store/run-records.ts';

/** How a run ended; undefined where this process will not see it. */
export type Ending = Promise<Outcome | undefined>;

/** Those who wait for runs to end, wherever the runs are carried out. */
export class Endings {
  readonly #waiting = new Map<string, (outcome: Outcome | undefined) => void>();

  of(runId: string): Ending {
    return new Promise(resolve => this.#waiting.set(runId, resolve));
  }

  /** The runs that somebody waits for. */
  awaited(): string[] {
    return [...this.#waiting.keys()];
  }

  isAwaited(runId: string): boolean {
    return this.#waiting.has(runId);
  }

  report(runId: string, outcome: Outcome | undefined): void {
    this.#waiting.get(runId)?.(outcome);
    this.#waiting.delete(runId);
  }

  /** Ends every wait without an outcome. */
  giveUp(): void {
    for (const runId of this.#waiting.keys()) this.report(runId, undefined);
  }
}

/** The outcome of a run that was read; undefined while it is unfinished. */
export function outcomeOf({ status, outputs, tokens }: StoredRun): Outcome | undefined {
  if (status !== 'succeeded' && status !== 'failed') return undefined;
  return { status, outputs, tokens, media: [] };
}
