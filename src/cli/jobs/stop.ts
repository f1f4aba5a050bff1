import { setMaxListeners } from 'node:events';
import type { Context } from '../context.ts';
import { CliError, Interrupted } from '../errors.ts';
import { hasReachedNobody, isRefusalOfAll, type JobOutcome } from './job.ts';

/** Why something was not begun: no more is wanted. */
export class NoMoreWanted extends Error {
  override readonly name = 'NoMoreWanted';
}

/** Creations in a row that reach nobody before no more are sent. */
const MOST_UNREACHED = 10;

/** Whether a batch goes on. */
export class Stop {
  readonly #reading = new AbortController();
  readonly #dropping = new AbortController();
  /** Aborted once no more rows are wanted. */
  readonly reading = this.#reading.signal;
  /** Aborted once what runs is to be let go of. */
  readonly dropping = this.#dropping.signal;
  #reason: string | undefined;
  #hasReader = true;
  #interruptedBy: 'SIGINT' | 'SIGTERM' | undefined;
  #fault: unknown;
  #unreached = 0;

  constructor() {
    setMaxListeners(0, this.reading, this.dropping);
  }

  /** Why it ended early, where it did so by itself. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** The fault because of which jobs were put off; undefined if there is none. */
  get fault(): unknown {
    return this.#fault;
  }

  get interruptedBy(): 'SIGINT' | 'SIGTERM' | undefined {
    return this.#interruptedBy;
  }

  readonly isStopping = (): boolean => this.#reading.signal.aborted;

  /** Takes what became of a job, and starts no more rows if every further one would meet the same fault. */
  take(outcome: JobOutcome): void {
    if ((outcome.kind === 'put off' || outcome.kind === 'going on') && isRefusalOfAll(outcome.error)) {
      if (!isRefusalOfAll(this.#fault)) this.#fault = outcome.error;
      this.noMoreRows();
    } else if (outcome.kind === 'put off' && hasReachedNobody(outcome.error)) {
      this.#fault ??= outcome.error;
      this.#unreached += 1;
      if (this.#unreached >= MOST_UNREACHED) this.noMoreRows();
    } else if (isAnswered(outcome)) {
      this.#unreached = 0;
    }
  }

  /** Starts no more rows; those that run go on. */
  noMoreRows(reason?: string): void {
    this.#reason ??= reason;
    this.#reading.abort(new NoMoreWanted('no more rows are wanted'));
  }

  /** Whether the results are still read. */
  get hasReader(): boolean {
    return this.#hasReader;
  }

  /** The results are no longer read: what runs is dropped. */
  readerHasGone(): void {
    this.#hasReader = false;
    this.drop(new Error('nobody reads the results any more'));
  }

  /** Drops everything. */
  drop(reason: Error): void {
    this.noMoreRows();
    this.#dropping.abort(reason);
  }

  /** The first Ctrl-C starts no more rows, the second drops those that run, as the end of `--timeout` does at once. */
  listen(ctx: Context, open: { readonly openRows: number }): () => void {
    const onTimeIsUp = (): void => this.drop(ctx.signal.reason as Error);
    ctx.signal.addEventListener('abort', onTimeIsUp, { once: true });
    // The time may have been over before: nobody tells that a second time.
    if (ctx.signal.aborted) onTimeIsUp();
    const release = ctx.onInterrupt(signal => {
      if (this.#interruptedBy !== undefined) {
        release();
        this.drop(new Interrupted(this.#interruptedBy));
        return;
      }
      this.#interruptedBy = signal;
      this.noMoreRows();
      ctx.io.note(
        `note: no more rows are started; ${countOf(open.openRows)} left to finish, Ctrl-C again drops them`,
      );
    });
    return () => {
      release();
      ctx.signal.removeEventListener('abort', onTimeIsUp);
    };
  }
}

/** Returns false for a job whose fault was found before anything was sent. */
function isAnswered({ kind, ...outcome }: JobOutcome): boolean {
  if (kind === 'dropped' || kind === 'put off') return false;
  return kind !== 'failed' || !('error' in outcome) || !(outcome.error instanceof CliError);
}

function countOf(open: number): string {
  return open === 1 ? '1 that runs is' : `${open} that run are`;
}
