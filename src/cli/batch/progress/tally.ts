/** What became of a row. */
export type RowEnd = 'succeeded' | 'failed' | 'in doubt' | 'going on';

/** How far a batch is. */
export class Tally {
  /** Rows in all; undefined while the input has not been read to its end. */
  total: number | undefined;
  /** Rows that had ended before this batch began, by what became of them. */
  readonly before = { succeeded: 0, failed: 0, 'in doubt': 0, 'going on': 0 };
  /** Rows that ended in this batch. */
  readonly now = { succeeded: 0, failed: 0, 'in doubt': 0, 'going on': 0 };
  /** Rows that failed in this batch since something is wrong with them: no try would do better. */
  faulty = 0;
  /** Rows of this batch whose model was asked and gave nothing back. */
  unanswered = 0;
  /** Rows that were begun in this batch and are not done, for a reason that is not their own. */
  putOff = 0;
  /** A link because of which an output was not saved. */
  link: string | undefined;
  #openRows = 0;

  constructor(total: number | undefined) {
    this.total = total;
  }

  /** Rows that were started and have not ended. */
  get openRows(): number {
    return this.#openRows;
  }

  /** Counts a row that is started; gives what to call when it has ended. */
  open(): () => void {
    this.#openRows += 1;
    return () => {
      this.#openRows -= 1;
    };
  }

  get ended(): number {
    return sum(this.now);
  }

  get done(): number {
    return sum(this.before) + sum(this.now);
  }

  /** Rows that did not succeed, now or before. */
  get unsuccessful(): number {
    return this.done - this.before.succeeded - this.now.succeeded;
  }

  /** Rows that did not succeed in this batch. */
  get failedNow(): number {
    return this.ended - this.now.succeeded;
  }
}

function sum(counts: Readonly<Record<RowEnd, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
