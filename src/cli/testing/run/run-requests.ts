import type { RunRow } from '../../../wire/index.ts';
import { type PlannedJob, runJobs } from '../../batch/run/engine.ts';
import type { Job, JobJournal, JobOutcome, JobPlan } from '../../batch/run/job.ts';
import { Stop } from '../../batch/run/stop.ts';
import type { Connection, Context } from '../../context.ts';
import type { CreatedRun } from '../../creation/created.ts';
import { CreationInDoubt } from '../../creation/in-doubt.ts';
import { type SendCreation, sendCreation } from '../../creation/send-creation.ts';
import type { RunRequest } from '../../inputs/request-body.ts';
import type { JournalEntry } from '../../settings/journal/journal-lines.ts';

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
  /** Where it is kept how far each request is; nowhere by default. */
  readonly journal?: JobJournal;
  /** Called with each request that has ended; awaited. */
  readonly onResult: (job: RequestJob, result: RequestResult) => Promise<void>;
}

/**
 * Runs requests on the batch's engine, and calls back with each as it ends.
 *
 * @throws {CliError} INTERRUPTED, and what no request could go on after
 */
export async function runRequests(
  ctx: Context,
  connection: Connection,
  requests: readonly RequestJob[],
  options: RunRequestsOptions,
): Promise<void> {
  const { concurrency, onResult } = options;
  const stop = new Stop();
  const times = new Timer(ctx, options.journal);
  const jobs = requests.map((request, at) => new RequestedJob(request, at + 1));
  const onAbort = (): void => stop.drop(ctx.signal.reason as Error);
  ctx.signal.addEventListener('abort', onAbort, { once: true });
  try {
    await runJobs(planned(jobs), {
      work: { ctx, connection, journal: times, isStopping: stop.isStopping, send: times.send },
      concurrency,
      stop,
      settle: async (job, outcome) => {
        const { wanted } = job as RequestedJob;
        if (!ctx.signal.aborted) {
          await onResult(
            wanted,
            resultOf(outcome, times.secondsOf(job.id), times.entryOf(job.id), connection),
          );
        }
      },
    });
  } finally {
    ctx.signal.removeEventListener('abort', onAbort);
  }
  ctx.signal.throwIfAborted();
}

class RequestedJob implements Job {
  readonly id: string;

  constructor(
    readonly wanted: RequestJob,
    readonly row: number,
  ) {
    this.id = wanted.id;
  }

  request(): Promise<RunRequest> {
    return Promise.resolve(this.wanted.request);
  }
}

async function* planned(jobs: readonly RequestedJob[]): AsyncGenerator<PlannedJob> {
  for (const job of jobs) {
    yield { job, plan: job.wanted.plan ?? { kind: 'create' } };
  }
}

/** Knows when each creation was sent: waiting for a turn to send is not the model's time. */
class Timer implements JobJournal {
  readonly #ctx: Context;
  readonly #journal: JobJournal | undefined;
  readonly #entries = new Map<string, JournalEntry>();
  readonly #sentAt = new Map<string, number>();

  constructor(ctx: Context, journal: JobJournal | undefined) {
    this.#ctx = ctx;
    this.#journal = journal;
  }

  readonly send: SendCreation = (connection, creation, options) =>
    sendCreation(connection, creation, {
      ...options,
      onSent: () => {
        this.#sentAt.set(options.key, this.#ctx.clock.now());
        options.onSent();
      },
    });

  entryOf(id: string): JournalEntry | undefined {
    return this.#entries.get(id);
  }

  secondsOf(id: string): number {
    const sentAt = this.#sentAt.get(this.#entries.get(id)?.id ?? '');
    return sentAt === undefined ? 0 : (this.#ctx.clock.now() - sentAt) / 1000;
  }

  async creating(job: Job, entry: JournalEntry): Promise<void> {
    this.#entries.set(job.id, entry);
    await this.#journal?.creating(job, entry);
  }

  async waiting(job: Job): Promise<void> {
    await this.#journal?.waiting(job);
  }

  async running(job: Job, runId: string, recovered: boolean): Promise<void> {
    await this.#journal?.running(job, runId, recovered);
  }
}

function resultOf(
  outcome: JobOutcome,
  seconds: number,
  entry: JournalEntry | undefined,
  connection: Connection,
): RequestResult {
  if (outcome.kind === 'ended') return { run: outcome.run, seconds };
  if (outcome.kind === 'dropped') return { run: undefined, seconds, error: new Error('it was let go of') };
  const { error } = outcome;
  if (outcome.kind !== 'in doubt') return { run: undefined, seconds, error };
  return { run: undefined, seconds, error: inDoubt(error, outcome.candidates, entry, connection) };
}

/** The same error with the runs that it may have made. */
function inDoubt(
  error: unknown,
  candidates: readonly RunRow[],
  entry: JournalEntry | undefined,
  connection: Connection,
): unknown {
  const cause = error instanceof CreationInDoubt ? error.cause : error;
  return entry === undefined ? error : new CreationInDoubt(cause, candidates, entry, connection);
}
