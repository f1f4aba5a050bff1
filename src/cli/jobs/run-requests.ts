import type { Connection, Context } from '../context.ts';
import { type Failure, failureOf } from '../core/failure.ts';
import type { Budget } from '../creation/budget.ts';
import type { CreatedRun } from '../creation/creation.ts';
import { CliError } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import { type PlannedJob, runJobs } from './engine.ts';
import { isAtCap, type Job, type JobJournal, type JobOutcome, secondsOf } from './job.ts';
import { Stop } from './stop.ts';

/** What became of a request. */
export interface RequestResult {
  readonly run: CreatedRun | undefined;
  /** From the creation to the end. */
  readonly seconds: number;
  /** Why there is no run that has ended. */
  readonly fault: Failure | undefined;
  /** True if every further request would meet the fault, or it reached nobody: `--resume` makes up for it. */
  readonly isLeft?: boolean;
  /** True if its creation may have made a run, and is not sent again unasked. */
  readonly isInDoubt?: boolean;
}

export interface RunRequestsOptions<J extends Job> {
  /** Open creations at a time. */
  readonly concurrency: number;
  readonly budget: Budget;
  /** Nothing is kept by default. */
  readonly journal?: JobJournal;
  /**
   * Called with each job that has ended, and at last with those that were not started because of an earlier one's fault;
   * awaited.
   */
  readonly onResult: (job: J, result: RequestResult, outcome: JobOutcome) => Promise<void>;
  /** Starts no more jobs once every further one would meet the same fault. */
  readonly stop?: Stop;
  /** Has jobs answered before they are run; takes what becomes of those that can't be. */
  readonly through?: (
    jobs: readonly PlannedJob[],
    settle: (job: Job, outcome: JobOutcome) => Promise<void>,
  ) => AsyncIterable<PlannedJob>;
}

const NO_JOURNAL: JobJournal = {
  creating: async () => {},
  waiting: async () => {},
  running: async () => {},
};

/**
 * Runs requests on the batch's engine, and calls back with each as it ends.
 *
 * @throws {CliError} INTERRUPTED, and what no request could go on after
 */
export async function runRequests<J extends Job>(
  ctx: Context,
  connection: Connection,
  jobs: readonly (PlannedJob & { readonly job: J })[],
  { concurrency, budget, onResult, journal = NO_JOURNAL, stop = new Stop(), through }: RunRequestsOptions<J>,
): Promise<void> {
  const ended = new Set<string>();
  const settle = async (job: Job, outcome: JobOutcome): Promise<void> => {
    ended.add(job.id);
    if (!ctx.signal.aborted) await onResult(job as J, resultOf(outcome), outcome);
    job.batched?.settled();
  };
  const onAbort = (): void => stop.drop(ctx.signal.reason as Error);
  ctx.signal.addEventListener('abort', onAbort, { once: true });
  if (ctx.signal.aborted) onAbort();
  try {
    await runJobs(through ? through(jobs, settle) : jobs, {
      work: { ctx, connection, journal, budget, isStopping: stop.isStopping },
      concurrency,
      stop,
      settle,
    });
  } finally {
    ctx.signal.removeEventListener('abort', onAbort);
  }
  ctx.signal.throwIfAborted();
  const error = stop.fault ?? (through && (budget.reached ?? leftAtProvider()));
  if (error === undefined) return;
  const left = { kind: 'put off', error } as const;
  for (const { job } of jobs) {
    if (!ended.has(job.id) && (job.isWanted?.() ?? true)) await onResult(job, resultOf(left), left);
  }
}

/** Why a job has not ended whose answer could not be collected. */
function leftAtProvider(): CliError {
  return new CliError('its answer was not collected from the provider', {
    status: 'NETWORK_ERROR',
    exitCode: EXIT.fault,
  });
}

function resultOf(outcome: JobOutcome): RequestResult {
  const seconds = 'facts' in outcome ? (secondsOf(outcome.facts) ?? 0) : 0;
  if (outcome.kind === 'ended') return { run: outcome.run, seconds, fault: undefined };
  const error = errorOf(outcome);
  const isLeft = outcome.kind === 'put off' && !isAtCap(error);
  const isInDoubt = outcome.kind === 'in doubt';
  return {
    run: undefined,
    seconds,
    fault: failureOf(error),
    ...(isLeft && { isLeft }),
    ...(isInDoubt && { isInDoubt }),
  };
}

function errorOf(outcome: Exclude<JobOutcome, { kind: 'ended' }>): unknown {
  if (outcome.kind === 'dropped') return new Error('it was let go of');
  return outcome.error ?? resultsGone();
}

/** Why a job has no answer whose provider no longer has it; the batch as a whole is reported elsewhere. */
function resultsGone(): CliError {
  return new CliError('its result at the provider is gone, and may have been paid for', {
    status: 'NETWORK_ERROR',
    exitCode: EXIT.fault,
    hints: ['Hand it over once more with --resume --retry-unknown.'],
  });
}
