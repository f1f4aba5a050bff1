import { setMaxListeners } from 'node:events';
import type { Context } from '../context.ts';
import { CliError, InterruptedError, NoMoreRunsError, TimeLimitError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import type { JobOutcome } from './job.ts';
import { refusesEveryJob, wasNeverSent } from './job-errors.ts';

/** Number of creations in a row that may reach nobody before the batch stops. */
const MAX_UNREACHED_COUNT = 10;

/** Decides when a batch starts no more rows, and when it drops the running ones. */
export class StopControl {
  readonly #stopController = new AbortController();
  readonly #dropController = new AbortController();
  /** Aborts once no more rows may start. */
  readonly stopSignal = this.#stopController.signal;
  /** Aborts once running rows are dropped. */
  readonly dropSignal = this.#dropController.signal;
  #reason: string | undefined;
  #hasReader = true;
  #interruptedBy: 'SIGINT' | 'SIGTERM' | undefined;
  #fault: unknown;
  #unreachedCount = 0;

  constructor() {
    setMaxListeners(0, this.stopSignal, this.dropSignal);
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

  readonly isStopping = (): boolean => this.#stopController.signal.aborted;

  /**
   * Registers a job's outcome. Starts no more rows if every further one would meet the same fault.
   */
  register(outcome: JobOutcome): void {
    const sharedFault =
      outcome.kind === 'postponed' || outcome.kind === 'running'
        ? findSharedFault(outcome.error)
        : undefined;
    if (sharedFault !== undefined) {
      if (findSharedFault(this.#fault) === undefined) this.#fault = sharedFault;
      this.stopStarting();
    } else if (outcome.kind === 'postponed' && wasNeverSent(outcome.error)) {
      this.#fault ??= outcome.error;
      this.#unreachedCount += 1;
      if (this.#unreachedCount >= MAX_UNREACHED_COUNT) this.stopStarting();
    } else if (isAnswered(outcome)) {
      this.#unreachedCount = 0;
    }
  }

  /** Starts no more rows; running ones continue. */
  stopStarting(reason?: string): void {
    this.#reason ??= reason;
    this.#stopController.abort(new NoMoreRunsError('no more rows are wanted'));
  }

  /** True as long as someone reads the results. */
  get hasReader(): boolean {
    return this.#hasReader;
  }

  /** Drops the running rows because nobody reads the results. */
  dropWithoutReader(): void {
    this.#hasReader = false;
    this.drop(new Error('nobody reads the results'));
  }

  /** Starts no more rows and drops the running ones. */
  drop(reason: Error): void {
    this.stopStarting();
    this.#dropController.abort(reason);
  }

  /**
   * Listens for Ctrl-C and the end of `--timeout`. The first Ctrl-C starts no more rows; the second
   * drops the running ones, as does the timeout. Returns a function that ends this.
   */
  listen(ctx: Context, tally: { readonly runningCount: number }): () => void {
    const onAbort = (): void => {
      const reason = ctx.signal.reason as Error;
      // The signal came before `onInterrupt` below, which doesn't report it again.
      if (reason instanceof InterruptedError) this.#interruptedBy ??= reason.signal;
      this.drop(reason);
    };

    ctx.signal.addEventListener('abort', onAbort, { once: true });

    // No event follows if the signal was aborted before this call.
    if (ctx.signal.aborted) onAbort();
    const release = ctx.onInterrupt(signal => {
      if (this.#interruptedBy !== undefined) {
        release();
        this.drop(new InterruptedError(this.#interruptedBy));
        return;
      }

      this.#interruptedBy = signal;
      this.stopStarting();
      const { runningCount } = tally;
      const runningNote =
        runningCount > 0 ? `; ${runningCount} still running, press Ctrl-C again to drop them` : '';
      ctx.io.note(`note: starting no more rows${runningNote}`);
    });

    return () => {
      release();
      ctx.signal.removeEventListener('abort', onAbort);
    };
  }
}

/**
 * Returns the fault if every further job would meet it too: because they would be refused, or no
 * time is left for them.
 */
function findSharedFault(error: unknown): unknown {
  if (refusesEveryJob(error) || error instanceof TimeLimitError) return error;
  return error instanceof CliError && error.exitCode === EXIT.waitTimeout
    ? new TimeLimitError()
    : undefined;
}

/** Returns true if the outcome shows that somebody answered. */
function isAnswered(outcome: JobOutcome): boolean {
  if (outcome.kind === 'ended') return outcome.isUnanswered !== true;
  // A `CliError` was found before anything was sent.
  if (outcome.kind === 'failed') return !(outcome.error instanceof CliError);
  return outcome.kind === 'in doubt' || outcome.kind === 'running';
}
