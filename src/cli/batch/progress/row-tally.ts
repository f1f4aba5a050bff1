import type { JournalEntry } from '../../settings/journal/journal-lines.ts';

/** The time of a creation, by this machine's clock and its offset from the service's. */
type SentTime = Pick<JournalEntry, 'time' | 'clockOffsetMs'>;

export type RowEnd = 'succeeded' | 'failed' | 'in doubt' | 'running';

/** Counts the rows of a batch by their outcomes. */
export class RowTally {
  /** The number of rows; undefined if unknown in advance. */
  readonly rowCount: number | undefined;
  /** Rows that had ended before this invocation, by outcome. */
  readonly countsBefore = { succeeded: 0, failed: 0, 'in doubt': 0, running: 0 };
  /** Rows that ended in this invocation, by outcome. */
  readonly countsNow = { succeeded: 0, failed: 0, 'in doubt': 0, running: 0 };
  /**
   * Rows that failed in this invocation because they are invalid, so that a retry would fail too.
   */
  faultyCount = 0;
  /** Rows of this invocation whose run was stopped with the command. */
  stoppedCount = 0;
  /** Rows of this invocation whose model was asked and returned nothing. */
  unansweredCount = 0;
  /**
   * Rows that were started in this invocation and postponed because of a fault that concerns other
   * rows too.
   */
  postponedCount = 0;
  /** A link that kept an output from being saved. */
  refusedLink: string | undefined;
  /** The earliest creation in doubt, now or before. */
  earliestDoubt: SentTime | undefined;
  #runningCount = 0;

  constructor(rowCount: number | undefined) {
    this.rowCount = rowCount;
  }

  /** Number of rows whose creation is sent and whose run has not ended. */
  get runningCount(): number {
    return this.#runningCount;
  }

  /** Counts a running row; returns a function to call when it no longer runs. */
  beginRunning(): () => void {
    this.#runningCount += 1;
    return () => {
      this.#runningCount -= 1;
    };
  }

  /** Remembers when a creation that is in doubt was sent. */
  addDoubt(sentTime: SentTime): void {
    const { time } = this.earliestDoubt ?? sentTime;
    if (Date.parse(sentTime.time) <= Date.parse(time)) this.earliestDoubt = sentTime;
  }

  get endedCount(): number {
    return sumCounts(this.countsNow);
  }

  get doneCount(): number {
    return sumCounts(this.countsBefore) + sumCounts(this.countsNow);
  }

  /** Number of rows that failed, now or earlier; rows in doubt or still running have not failed. */
  get failedCount(): number {
    return this.countsBefore.failed + this.countsNow.failed;
  }

  /** Number of rows that did not succeed in this invocation. */
  get failedNowCount(): number {
    return this.endedCount - this.countsNow.succeeded;
  }
}

function sumCounts(counts: Readonly<Record<RowEnd, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
