import { setMaxListeners } from 'node:events';
import type { Context } from '../context.ts';
import { CliError, Interrupted, NoMoreRunsWanted, TimeIsUp } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import type { JobOutcome } from './job.ts';
import { refusesEveryJob, wasNeverSent } from './job-errors.ts';

/** Number of consecutive creations that may reach nobody before the batch stops. */
const MAX_UNREACHED = 10;

/** Decides when a batch starts no more rows, and when it drops the running ones. */
export class StopControl {
  readonly #stopping = new AbortController();
  readonly #dropping = new AbortController();
  /** Aborts once no more rows may start. */
  readonly stopping = this.#stopping.signal;
  /** Aborts once running rows are dropped. */
  readonly dropping = this.#dropping.signal;
  #reason: string | undefined;
  #hasReader = true;
  #interruptedBy: 'SIGINT' | 'SIGTERM' | undefined;
  #fault: unknown;
  #unreached = 0;

  constructor() {
    setMaxListeners(0, this.stopping, this.dropping);
  }

  /** The reason if the batch itself stopped early. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** The fault that postponed jobs; undefined if there is none. */
  get fault(): unknown {
    return this.#fault;
  }

  get interruptedBy(): 'SIGINT' | 'SIGTERM' | undefined {
    return this.#interruptedBy;
  }

  readonly isStopping = (): boolean => this.#stopping.signal.aborted;

  /**
   * Registers a job's outcome. Starts no more rows if every further one would meet the same fault.
   */
  register(outcome: JobOutcome): void {
    const faultOfAll =
      outcome.kind === 'postponed' || outcome.kind === 'running'
        ? findFaultOfAllJobs(outcome.error)
        : undefined;
    if (faultOfAll !== undefined) {
      if (findFaultOfAllJobs(this.#fault) === undefined) this.#fault = faultOfAll;
      this.stopRows();
    } else if (outcome.kind === 'postponed' && wasNeverSent(outcome.error)) {
      this.#fault ??= outcome.error;
      this.#unreached += 1;
      if (this.#unreached >= MAX_UNREACHED) this.stopRows();
    } else if (isAnswered(outcome)) {
      this.#unreached = 0;
    }
  }

  /** Starts no more rows; running ones continue. */
  stopRows(reason?: string): void {
    this.#reason ??= reason;
    this.#stopping.abort(new NoMoreRunsWanted('no more rows are wanted'));
  }

  /** True as long as someone reads the results. */
  get hasReader(): boolean {
    return this.#hasReader;
  }

  /** Drops the running rows because nobody reads the results. */
  dropUnread(): void {
    this.#hasReader = false;
    this.drop(new Error('nobody reads the results'));
  }

  /** Starts no more rows and drops the running ones. */
  drop(reason: Error): void {
    this.stopRows();
    this.#dropping.abort(reason);
  }

  /**
   * Listens for Ctrl-C: the first starts no more rows, the second drops the running ones, as does
   * the end of `--timeout`.
   */
  listen(ctx: Context, tally: { readonly runningCount: number }): () => void {
    const onAbort = (): void => {
      const reason = ctx.signal.reason as Error;
      // A signal before this call would have ended the command.
      if (reason instanceof Interrupted) this.#interruptedBy ??= reason.signal;
      this.drop(reason);
    };

    ctx.signal.addEventListener('abort', onAbort, { once: true });

    // No event follows if the signal was aborted before this call.
    if (ctx.signal.aborted) onAbort();
    const release = ctx.onInterrupt(signal => {
      if (this.#interruptedBy !== undefined) {
        release();
        this.drop(new Interrupted(this.#interruptedBy));
        return;
      }

      this.#interruptedBy = signal;
      this.stopRows();
      const { runningCount } = tally;
      const left =
        runningCount > 0 ? `; ${runningCount} still running, press Ctrl-C again to drop them` : '';
      ctx.io.note(`note: starting no more rows${left}`);
    });

    return () => {
      release();
      ctx.signal.removeEventListener('abort', onAbort);
    };
  }
}

/**
 * Returns the fault that every further job would meet too: they are refused, or no time is left for
 * them.
 */
function findFaultOfAllJobs(error: unknown): unknown {
  if (refusesEveryJob(error) || error instanceof TimeIsUp) return error;
  return error instanceof CliError && error.exitCode === EXIT.waitTimeout
    ? new TimeIsUp()
    : undefined;
}

/** Returns false if nobody answered the job, or its fault was found before anything was sent. */
function isAnswered({ kind, ...outcome }: JobOutcome): boolean {
  if ('isUnanswered' in outcome && outcome.isUnanswered) return false;
  if (kind === 'dropped' || kind === 'postponed') return false;
  return kind !== 'failed' || !('error' in outcome) || !(outcome.error instanceof CliError);
}
