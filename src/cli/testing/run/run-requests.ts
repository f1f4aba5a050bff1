import { type PlannedJob, runJobs } from '../../batch/run/engine.ts';
import { type Job, type JobJournal, type JobOutcome, type JobPlan, secondsOf } from '../../batch/run/job.ts';
import { Stop } from '../../batch/run/stop.ts';
import type { Connection, Context } from '../../context.ts';
import type { Budget } from '../../creation/budget.ts';
import { CreationInDoubt } from '../../creation/in-doubt.ts';
import type { CreatedRun } from '../../creation/send-creation.ts';
import type { RunRequest } from '../../inputs/request-body.ts';

/** A request to be run, and what is to be done for it; `create` by default. */
export interface RequestJob {
  /** Names it among the others. */
  readonly id: string;
  readonly request: RunRequest;
  readonly plan?: JobPlan;
}

/** What became of a request. */
export type RequestResult =
  | { readonly run: CreatedRun; readonly seconds: number }
  /** Why there is no run that has ended. */
  | { readonly run: undefined; readonly seconds: number; readonly error: unknown };

export interface RunRequestsOptions {
  /** Open creations at a time. */
  readonly concurrency: number;
  readonly budget: Budget;
  /** Where it is kept how far each request is; nowhere by default. */
  readonly journal?: JobJournal;
  /** Called with each request that has ended; awaited. */
  readonly onResult: (job: RequestJob, result: RequestResult, outcome: JobOutcome) => Promise<void>;
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
export async function runRequests(
  ctx: Context,
  connection: Connection,
  requests: readonly RequestJob[],
  { concurrency, budget, onResult, journal = NO_JOURNAL }: RunRequestsOptions,
): Promise<void> {
  const stop = new Stop();
  const onAbort = (): void => stop.drop(ctx.signal.reason as Error);
  ctx.signal.addEventListener('abort', onAbort, { once: true });
  try {
    await runJobs(planned(requests), {
      work: { ctx, connection, journal, budget, isStopping: stop.isStopping },
      concurrency,
      stop,
      settle: async (job, outcome) => {
        if (!ctx.signal.aborted)
          await onResult((job as RequestedJob).wanted, resultOf(outcome, connection), outcome);
      },
    });
  } finally {
    ctx.signal.removeEventListener('abort', onAbort);
  }
  ctx.signal.throwIfAborted();
}

interface RequestedJob extends Job {
  readonly wanted: RequestJob;
}

async function* planned(requests: readonly RequestJob[]): AsyncGenerator<PlannedJob> {
  for (const [at, wanted] of requests.entries()) {
    const job: RequestedJob = { wanted, id: wanted.id, row: at + 1, request: async () => wanted.request };
    yield { job, plan: wanted.plan ?? { kind: 'create' } };
  }
}

function resultOf(outcome: JobOutcome, connection: Connection): RequestResult {
  switch (outcome.kind) {
    case 'ended':
      return { run: outcome.run, seconds: secondsOf(outcome.facts) ?? 0 };
    case 'failed':
      return { run: undefined, seconds: secondsOf(outcome.facts) ?? 0, error: outcome.error };
    case 'dropped':
      return { run: undefined, seconds: 0, error: new Error('it was let go of') };
    case 'in doubt': {
      // The same error with the runs that it may have made.
      const { error, candidates, entry } = outcome;
      const cause = error instanceof CreationInDoubt ? error.cause : error;
      return { run: undefined, seconds: 0, error: new CreationInDoubt(cause, candidates, entry, connection) };
    }
    case 'going on':
    case 'put off':
    default:
      return { run: undefined, seconds: 0, error: outcome.error };
  }
}
