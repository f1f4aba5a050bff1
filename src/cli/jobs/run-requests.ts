import type { Connection, Context } from '../context.ts';
import { CliError, NoMoreRunsError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import { type Failure, toFailure } from '../core/failure.ts';
import type { CreatedRun } from '../creation/creation-result.ts';
import type { Budget } from '../creation/spending/budget.ts';
import { computeRunSeconds, type Job, type JobJournal, type JobOutcome } from './job.ts';
import { type PlannedJob, runJobs } from './job-engine.ts';
import { isCapReached } from './job-errors.ts';
import { StopControl } from './stop-control.ts';

export interface RequestResult {
  readonly run: CreatedRun | undefined;
  /** The time from the creation to the end; null if unknown, as of a row of a provider batch. */
  readonly seconds: number | null;
  /** The fault, if no run has ended. */
  readonly fault: Failure | undefined;
  /**
   * True if the request was postponed: its fault concerns every request, or it reached nobody.
   * `--resume` sends it.
   */
  readonly isPostponed?: boolean;
  /** True if its creation may have made a run, so that it is not sent again unasked. */
  readonly isInDoubt?: boolean;
  /** True if its model was asked and nothing came back. */
  readonly isUnanswered?: boolean;
}

/** Returns true if there are results, and no request behind them was answered. */
export function areUnanswered(results: readonly RequestResult[]): boolean {
  return results.length > 0 && results.every(({ isUnanswered }) => isUnanswered);
}

/** Returns the error of a command none of whose requests was answered. */
export function nobodyAnsweredError(): CliError {
  return new CliError('no request was answered; the runs have failed and may have been paid for', {
    status: 'NETWORK_ERROR',
    exitCode: EXIT.fault,
  });
}

export interface RunRequestsOptions<J extends Job> {
  /** Maximum number of open creations. */
  readonly concurrency: number;
  readonly budget: Budget;
  /** The journal of the jobs' states; none by default. */
  readonly journal?: JobJournal;
  /**
   * Called with each job that has ended, and finally with the jobs that another job's fault kept
   * from starting; awaited.
   */
  readonly onResult: (job: J, result: RequestResult, outcome: JobOutcome) => Promise<void>;
  /** Stops once every further job would meet the same fault. */
  readonly stop?: StopControl;
  /**
   * Hands jobs over to a provider and yields them with their answers; calls `settle` for those
   * without an answer.
   */
  readonly handOver?: (
    jobs: readonly PlannedJob[],
    settle: (job: Job, outcome: JobOutcome) => Promise<void>,
  ) => AsyncIterable<PlannedJob>;
}

const NO_JOURNAL: JobJournal = {
  recordCreation: async () => {},
  recordWaiting: async () => {},
  recordRun: async () => {},
};

/**
 * Runs requests on the job engine and reports each result as it arrives.
 *
 * @throws {CliError} INTERRUPTED, and errors that must end all other requests too
 */
export async function runRequests<J extends Job>(
  ctx: Context,
  connection: Connection,
  jobs: readonly (PlannedJob & { readonly job: J })[],
  options: RunRequestsOptions<J>,
): Promise<void> {
  const { concurrency, budget, onResult, handOver } = options;
  const { journal = NO_JOURNAL, stop = new StopControl() } = options;
  const settledIds = new Set<string>();
  const settle = async (job: Job, outcome: JobOutcome): Promise<void> => {
    // It is reported below, with the fault that stopped it, like the jobs that did not start.
    if (outcome.kind === 'postponed' && outcome.error instanceof NoMoreRunsError) return;

    settledIds.add(job.id);
    if (!ctx.signal.aborted) await onResult(job as J, toRequestResult(outcome), outcome);
    job.batchAnswer?.withdraw();
  };

  const stopListening = dropOnAbort(stop, ctx.signal);
  try {
    await runJobs(handOver ? handOver(jobs, settle) : jobs, {
      jobContext: { ctx, connection, journal, budget, stopSignal: stop.stopSignal },
      concurrency,
      stop,
      settle,
    });
  } finally {
    stopListening();
  }

  ctx.signal.throwIfAborted();
  const handoverFault = handOver && (budget.capError ?? notCollectedError());
  const error = stop.fault ?? handoverFault;
  if (error === undefined) return;

  const postponed = { kind: 'postponed', error } as const;
  const unsettledJobs = jobs.filter(({ job }) => !settledIds.has(job.id));
  for (const { job } of unsettledJobs) {
    if (job.isWanted?.() ?? true) await onResult(job, toRequestResult(postponed), postponed);
  }
}

/** Drops the running jobs when the signal aborts. Returns a function that ends this. */
function dropOnAbort(stop: StopControl, signal: AbortSignal): () => void {
  const onAbort = (): void => stop.drop(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  // No event follows if the signal was aborted before this call.
  if (signal.aborted) onAbort();
  return () => signal.removeEventListener('abort', onAbort);
}

/** Returns the error of a job whose answer was not collected from the provider. */
function notCollectedError(): CliError {
  return new CliError('its answer was not collected from the provider', {
    status: 'NETWORK_ERROR',
    exitCode: EXIT.fault,
  });
}

function toRequestResult(outcome: JobOutcome): RequestResult {
  const seconds = 'details' in outcome ? computeRunSeconds(outcome.details) : 0;
  if (outcome.kind === 'ended') {
    const { run, isUnanswered = false } = outcome;
    return { run, seconds, fault: undefined, isUnanswered };
  }

  const error = findOutcomeError(outcome);
  return {
    run: undefined,
    seconds,
    fault: toFailure(error),
    isPostponed: outcome.kind === 'postponed' && !isCapReached(error),
    isInDoubt: outcome.kind === 'in doubt',
  };
}

function findOutcomeError(outcome: Exclude<JobOutcome, { kind: 'ended' }>): unknown {
  if (outcome.kind === 'dropped') return new Error('the job was dropped');
  return outcome.error ?? resultsGoneError();
}

/** Returns the error of a job whose answer the provider no longer has. */
function resultsGoneError(): CliError {
  return new CliError('the provider no longer has the result, which may have been paid for', {
    status: 'NETWORK_ERROR',
    exitCode: EXIT.fault,
    hints: ['To upload it again, add --resume --retry-unknown.'],
  });
}

/** Returns the result of a job that can't be run. */
export function toNotRunResult(error: unknown): RequestResult {
  return { run: undefined, seconds: 0, fault: toFailure(error) };
}
