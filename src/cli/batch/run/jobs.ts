import PQueue from 'p-queue';
import { searchRuns } from '../../creation/find-run.ts';
import { CreationInDoubt } from '../../creation/in-doubt.ts';
import type { BatchOptions } from '../options.ts';
import type { Reporter } from '../progress/reporter.ts';
import type { Tally } from '../progress/tally.ts';
import type { Results } from '../results/results-file.ts';
import { goingLine, type ResultsLine } from '../results/results-line.ts';
import type { RowPlace } from '../rows/row.ts';
import { processRow, type RowJob, type RowOutcome, saveToOf } from './finish-row.ts';
import type { RowWork } from './run-row.ts';
import type { Stop } from './stop.ts';

/** Rows that are started and have not ended, those that are only polled included. */
const MOST_OPEN = 1000;

export interface JobParts {
  readonly options: BatchOptions;
  readonly work: RowWork;
  readonly results: Results;
  readonly tally: Tally;
  readonly stop: Stop;
  readonly report: Reporter;
}

/** A row whose creation was not answered. */
interface Doubt {
  readonly row: RowPlace;
  /** What is said of it unless its run is found. */
  readonly line: ResultsLine;
  readonly error: CreationInDoubt;
}

/** Rows under way: as many creations at a time as are wanted, and each row seen to its end. */
export class Jobs {
  readonly #parts: JobParts;
  readonly #creations: PQueue;
  readonly #open = new Set<Promise<void>>();
  readonly #doubtful: Doubt[] = [];
  #fault: { readonly error: unknown } | undefined;

  constructor(parts: JobParts) {
    this.#parts = parts;
    this.#creations = new PQueue({ concurrency: parts.options.concurrency });
  }

  /** Resolves when every row that was started has ended. @throws the first fault that no row could go on after */
  async ended(): Promise<void> {
    while (this.#open.size > 0) {
      await Promise.all(this.#open);
    }
    await Promise.all(this.#doubtful.map(doubt => this.#recoverRun(doubt)));
    if (this.#fault !== undefined) {
      throw this.#fault.error;
    }
  }

  /** Once a creation is free; the row takes it up until its own is over, and is open until it has ended. */
  async launch(job: RowJob): Promise<void> {
    await this.#room();
    const { tally, stop } = this.#parts;
    const start = (free: () => void): void => {
      if (stop.isStopping()) {
        free();
        return;
      }
      tally.open += 1;
      const running = this.#do(job, free).finally(() => {
        tally.open -= 1;
        this.#open.delete(running);
        free();
      });
      this.#open.add(running);
    };
    void this.#creations.add(() => new Promise<void>(start));
  }

  /** Until no other row waits for a creation, and not too many rows are open. */
  async #room(): Promise<void> {
    const { stop } = this.#parts;
    await this.#creations.onSizeLessThan(1);
    while (this.#open.size >= MOST_OPEN && !stop.isStopping()) {
      await Promise.race(this.#open);
    }
  }

  async #do(job: RowJob, free: () => void): Promise<void> {
    const { work, options } = this.#parts;
    try {
      const outcome = await processRow(work, job, { save: saveToOf(options), onCreated: free });
      await this.settle(job.row, outcome);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Counts, gives and tells what became of a row. */
  async settle(row: RowPlace, outcome: RowOutcome): Promise<void> {
    const { tally, report } = this.#parts;
    if (outcome.kind === 'ended') {
      tally.now[outcome.end] += 1;
      if (outcome.error instanceof CreationInDoubt) {
        this.#doubtful.push({ row, line: outcome.line, error: outcome.error });
      } else {
        await this.#give(outcome.line);
      }
    }
    report.told(row, outcome);
  }

  async #give(line: ResultsLine): Promise<void> {
    const { results, stop } = this.#parts;
    if (!(await results.give(line))) {
      stop.drop(new Error('nobody reads the results any more'));
    }
  }

  /** Now that every other run is known, the one that is left may be the one whose creation was not answered. */
  async #recoverRun({ row, line, error }: Doubt): Promise<void> {
    const { work, results, tally } = this.#parts;
    const { ctx, batch } = work;
    const { signal } = ctx;
    const [found] = await searchRuns(ctx, batch.connection, [error.entry], { signal }).catch(() => []);
    const runId = found?.run?.runId;
    if (runId === undefined) {
      await this.#give(line);
      return;
    }
    ctx.io.note(`note: row ${row.row} goes on with run ${runId}`);
    tally.now['in doubt'] -= 1;
    await results.keep(goingLine(row, runId));
    await this.#do({ kind: 'wait', row, runId }, () => {});
  }

  /** No row can go on after this. */
  fail(error: unknown): void {
    this.#fault ??= { error };
    this.#parts.stop.noMoreRows();
  }
}
