import { toCount } from '../../files/formats/json-fields.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import type { Connection, Context } from '../context.ts';
import { type CliError, usageError } from '../core/errors.ts';
import type { Budget } from '../creation/spending/budget.ts';
import type { EarlierRun } from '../creation/spending/spending.ts';
import { buildRunBody } from '../inputs/request-body.ts';
import { toOneLine } from '../terminal/sanitise.ts';
import type { BatchJournal } from './batch-journal.ts';
import type { Job, JobOutcome, JobPlan } from './job.ts';
import type { PlannedJob } from './job-engine.ts';
import { formatError } from './job-errors.ts';
import { parseEndedResult, planResumedJob, type RetryFlags } from './plan-resumed-job.ts';
import { collectHandoverRows } from './provider-batch/batch-handover.ts';
import { type HandoverParts, handOverByVersion } from './provider-batch/hand-over-jobs.ts';
import { collectEarlierSpending, type RecalledJobs, recallJobs } from './recall-jobs.ts';
import { type RequestResult, runRequests } from './run-requests.ts';
import { findUnknownRunStep, reportSecondPayments } from './second-payments.ts';
import type { StopControl } from './stop-control.ts';

/** Flags that decide what happens to the jobs of an earlier invocation of the same command. */
export interface ResumeOptions extends RetryFlags {
  /** True to resume from the earlier invocation's journal. */
  readonly resume: boolean;
  /** True to hand jobs over to their models' provider as its batches. */
  readonly providerBatch: boolean;
  /** True to cancel the batches that were handed over. */
  readonly cancel: boolean;
}

export interface ResumableRequestsOptions extends ResumeOptions {
  /** Maximum number of open creations. */
  readonly concurrency: number;
  readonly budget: Budget;
  readonly journal: BatchJournal;
  readonly stop: StopControl;
}

/**
 * Runs requests and keeps their answers in a journal, so that a resumed command pays for none
 * twice.
 */
export class ResumableRequests {
  readonly #ctx: Context;
  readonly #connection: Connection;
  readonly #options: ResumableRequestsOptions;
  readonly #recalledJobs: RecalledJobs;
  /** True if jobs are handed over to their models' provider. */
  readonly usesProviderBatches: boolean;

  private constructor(
    ctx: Context,
    connection: Connection,
    options: ResumableRequestsOptions,
    {
      recalledJobs,
      usesProviderBatches,
    }: { readonly recalledJobs: RecalledJobs; readonly usesProviderBatches: boolean },
  ) {
    this.#ctx = ctx;
    this.#connection = connection;
    this.#options = options;
    this.#recalledJobs = recalledJobs;
    this.usesProviderBatches = usesProviderBatches;
  }

  /**
   * Reads the jobs' states from the journal, or forgets them unless the command is resumed.
   *
   * @param isOwnJob returns true for the ids of the jobs, and of the jobs that check their answers
   * @throws {CliError} USAGE_ERROR if a provider has an open batch of them and the command is not
   * resumed
   */
  static async open(
    ctx: Context,
    connection: Connection,
    isOwnJob: (id: string) => boolean,
    options: ResumableRequestsOptions,
  ): Promise<ResumableRequests> {
    const { journal, resume, budget } = options;
    const openHandoverRows = listOpenHandoverRows(journal).filter(([id]) => isOwnJob(id));
    if (!resume) {
      if (openHandoverRows.length > 0) throw openBatchError();
      await journal.forget(isOwnJob);
    }

    const recalledJobs = await recallJobs(ctx, connection, journal, {
      changedJobIds: new Set(),
    });
    const facts = { service: connection.serviceName, promptVersionId: '', options: {} };
    const time = new Date(ctx.clock.now()).toISOString();
    await journal.begin(resume ? { ...facts, resumes: true } : facts, time);

    if (resume) {
      // The journal also holds the jobs of other tests of the same files, such as those that
      // --filter leaves out.
      const states = new Map(
        [...recalledJobs.states].filter(([id]) => isOwnJob(id) || !journal.earlierIds.has(id)),
      );
      const { runs, doubtIds } = collectEarlierSpending({ ...recalledJobs, states });
      const openRequestNames = openHandoverRows.map(([, { customId }]) => customId);
      budget.countEarlierSpending(connection, {
        runs: [...listEndedJobRuns(states, journal), ...runs],
        doubtIds: [...doubtIds, ...openRequestNames],
      });
    }

    const usesProviderBatches = options.providerBatch || openHandoverRows.length > 0;
    return new ResumableRequests(ctx, connection, options, { recalledJobs, usesProviderBatches });
  }

  /**
   * Runs jobs, or returns the results that an earlier invocation has got.
   *
   * @param onResult called with each result; awaited. `isEarlier` is true if an earlier invocation
   * got it
   * @throws {CliError} INTERRUPTED, and errors that must end all other requests too
   */
  async run<J extends Job>(
    jobs: readonly J[],
    onResult: (
      job: J,
      result: RequestResult,
      details: { readonly isEarlier: boolean },
    ) => Promise<void>,
  ): Promise<void> {
    const { concurrency, budget, journal, stop } = this.#options;
    const plannedJobs: { readonly job: J; readonly plan: JobPlan }[] = [];
    for (const job of jobs) {
      const plan = planResumedJob(job, this.#recalledJobs, this.#connection, this.#options);
      if (plan.kind === 'report') {
        const { result } = plan;
        await this.#recordEarlierRun(job, result);
        await onResult(job, result, { isEarlier: result.run !== undefined });
        continue;
      }

      if (plan.kind === 'wait') await this.#assignToRecording(job, plan.runId);
      plannedJobs.push({ job, plan });
    }

    this.#reportSecondPayments(plannedJobs);
    const jobsByVersion = this.usesProviderBatches ? await groupByVersion(plannedJobs) : undefined;

    await runRequests(this.#ctx, this.#connection, plannedJobs, {
      concurrency,
      budget,
      journal,
      stop,
      ...(jobsByVersion && {
        handOver: (_, settle) => handOverByVersion(jobsByVersion, this.#buildHandoverParts(settle)),
      }),
      onResult: async (job, result, outcome) => {
        await writeJobEnd(journal, this.#connection, { job, result, outcome });
        await onResult(job, result, { isEarlier: false });
      },
    });
  }

  /** Warns how many runs may be paid for twice; a handover reports its own. */
  #reportSecondPayments(
    plannedJobs: readonly { readonly job: Job; readonly plan: JobPlan }[],
  ): void {
    if (this.usesProviderBatches) return;
    const secondPayments = plannedJobs.filter(
      ({ job, plan }) =>
        plan.kind === 'create' && findUnknownRunStep(this.#recalledJobs, job.id) !== undefined,
    );
    reportSecondPayments(this.#ctx, secondPayments.length);
  }

  /** Records the result of an earlier run, if the command records. */
  async #recordEarlierRun(job: Job, { run }: RequestResult): Promise<void> {
    if (run === undefined) return;
    if (await this.#assignToRecording(job, run.runId)) await this.#readRunToRecord(run.runId);
  }

  /**
   * Assigns an earlier run to its job, so that the recording takes its answer. Returns false if the
   * command doesn't record.
   */
  async #assignToRecording(job: Job, runId: string): Promise<boolean> {
    const { recorder } = this.#connection;
    if (recorder?.registerEarlierRun === undefined) return false;
    recorder.registerEarlierRun(runId, buildRunBody(await job.buildRequest()).recordedRequest);
    return true;
  }

  /** Reads the answer of an ended run, to record it. */
  async #readRunToRecord(runId: string): Promise<void> {
    const { signal, io } = this.#ctx;
    await this.#connection.client.runs.get(runId, { signal }).catch((error: unknown) => {
      signal.throwIfAborted();
      io.note(`note: not recorded: ${toOneLine(getErrorMessage(error))}`);
    });
  }

  #buildHandoverParts(settle: (job: Job, outcome: JobOutcome) => Promise<void>): HandoverParts {
    const { journal, stop, budget, cancel, retryUnknown } = this.#options;
    return {
      ctx: this.#ctx,
      connection: this.#connection,
      journal,
      stop,
      budget,
      estimatedCredits: undefined,
      cancel,
      retryUnknown,
      settle,
    };
  }
}

/** Lists the rows of a provider's batches that have not been collected, with their ids. */
function listOpenHandoverRows(journal: BatchJournal): [string, { readonly customId: string }][] {
  return [...collectHandoverRows(journal)].filter(([id]) => {
    const step = journal.states.get(id)?.step;
    return step !== 'succeeded' && step !== 'failed';
  });
}

function openBatchError(): CliError {
  return usageError(
    'the provider still has a batch of an earlier invocation, which is paid for',
    'To collect it, add --resume to the same command; to cancel it, add --resume --cancel.',
  );
}

async function groupByVersion(
  plannedJobs: readonly PlannedJob[],
): Promise<Map<string, PlannedJob[]>> {
  const jobsByVersion = new Map<string, PlannedJob[]>();
  for (const plannedJob of plannedJobs) {
    const { promptVersionId } = await plannedJob.job.buildRequest();
    jobsByVersion.set(promptVersionId, [...(jobsByVersion.get(promptVersionId) ?? []), plannedJob]);
  }
  return jobsByVersion;
}

/** Lists the runs of ended jobs with their service tokens. */
function listEndedJobRuns(
  states: RecalledJobs['states'],
  journal: Pick<BatchJournal, 'handovers'>,
): EarlierRun[] {
  const handoverRows = collectHandoverRows(journal);
  const runs: EarlierRun[] = [];
  for (const [id, { entry = handoverRows.get(id), result }] of states) {
    const run = parseEndedResult(result)?.run;
    if (run === undefined) continue;
    const { runId, tokens } = run;
    runs.push({ runId, tokens: toCount(tokens), promptVersionId: entry?.promptVersionId });
  }

  return runs;
}

interface EndedJob {
  readonly job: Job;
  readonly result: RequestResult;
  readonly outcome: JobOutcome;
}

/**
 * Writes the end of a job to the journal, so that a resumed command never makes a paid run again.
 */
async function writeJobEnd(
  journal: BatchJournal,
  { isEmbedded }: Connection,
  { job, result: { run, seconds }, outcome }: EndedJob,
): Promise<void> {
  if (run !== undefined) {
    const step = run.runStatus === 'succeeded' ? 'succeeded' : 'failed';
    const end = { step, runId: run.runId, error: null, result: { run, seconds } } as const;
    await journal.recordEnd(job, end, { isDurable: !isEmbedded });
  } else if (outcome.kind === 'failed') {
    const { runId = null, mayHaveRun, error } = outcome;
    await journal.recordEnd(job, { step: 'failed', runId, error: formatError(error), mayHaveRun });
  } else if (outcome.kind === 'in doubt') {
    await journal.recordCandidates(job, outcome.candidates);
  }
}
