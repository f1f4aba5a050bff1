import { NotFoundError, RateLimitError, ServiceError } from '../../client/errors.ts';
import { computeRetryDelay } from '../../client/http/retry.ts';
import { CREATION_RETRIES, SERVICE_RETRIES } from '../../net/retry-policy.ts';
import type { Connection, Context } from '../context.ts';
import { CliError, NoMoreRunsError, toTimeLimitError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import { createAndWait, waitForKnownRun } from '../creation/create-and-wait.ts';
import { type CreatedRun, mayHaveBeenSent } from '../creation/creation-result.ts';
import { CreationInDoubtError } from '../creation/in-doubt.ts';
import type { Budget } from '../creation/spending/budget.ts';
import { buildRunBody, type RunBody, type RunRequest } from '../inputs/request-body.ts';
import { findProviderFault } from '../outputs/provider-fault.ts';
import type { JournalEntry } from '../settings/journal/journal-lines.ts';
import type { Job, JobJournal, JobOutcome, JobPlan, RunDetails } from './job.ts';
import {
  findErrorRunId,
  isCapReached,
  isFatal,
  maySendAgain,
  refusesEveryJob,
  wasNeverSent,
} from './job-errors.ts';
import { takeTurn } from './paced-connection.ts';

/** The things that all jobs of a command share. */
export interface JobContext {
  /** The command's context, whose signal drops the running jobs. */
  readonly ctx: Context;
  readonly connection: Connection;
  readonly journal: JobJournal;
  readonly budget: Budget;
  /** The estimate in the service's search results. */
  readonly estimatedCredits?: unknown;
  /** Aborts once no more creations may be sent. */
  readonly stopSignal: AbortSignal;
}

export interface JobEvents {
  /** Called when the creation has been answered, but the run has not ended. */
  readonly onCreated: () => void;
  /**
   * Called when a creation is sent, or a known run is waited for; returns a function to call when
   * that has ended.
   */
  readonly onRunning?: (() => () => void) | undefined;
}

/**
 * Carries out a job's plan to its end.
 *
 * @throws only errors that must end all other jobs too
 */
export async function runJob(
  context: JobContext,
  job: Job,
  plan: JobPlan,
  events: JobEvents,
): Promise<JobOutcome> {
  return new RunningJob(context, job, events).run(plan);
}

class RunningJob {
  readonly #context: JobContext;
  readonly #job: Job;
  readonly #events: JobEvents;
  /** The function that `onRunning` returned; undefined while nothing is sent. */
  #reportEnd: (() => void) | undefined;
  #request: RunRequest | undefined;
  #sentAt: number | undefined;
  #runId: string | undefined;
  #entry: JournalEntry | undefined;

  constructor(context: JobContext, job: Job, events: JobEvents) {
    this.#context = context;
    this.#job = job;
    this.#events = events;
  }

  async run(plan: JobPlan): Promise<JobOutcome> {
    const { ctx, connection } = this.#context;
    let run: CreatedRun;
    try {
      run = plan.kind === 'wait' ? await this.#wait(plan) : await this.#create(plan);
    } catch (error) {
      if (ctx.signal.aborted) return this.#toDroppedOutcome(error);
      const runId = this.#runId ?? findErrorRunId(error);
      return runId === undefined
        ? this.#toOutcomeWithoutRun(error)
        : this.#toOutcomeWithRun(runId, error);
    } finally {
      this.#endRunning();
    }

    // A run that its provider refused cost nothing, so the job counts as one without a run.
    const refusal = findProviderFault(connection, run);
    if (refusal !== undefined) return this.#toOutcomeWithoutRun(refusal);

    const isUnanswered = connection.inProcessRuns?.isUnanswered(run.runId) ?? false;
    return { kind: 'ended', run, details: this.#collectDetails(), isUnanswered };
  }

  #beginRunning(): void {
    this.#reportEnd ??= this.#events.onRunning?.();
  }

  #endRunning(): void {
    this.#reportEnd?.();
    this.#reportEnd = undefined;
  }

  #collectDetails(): RunDetails {
    const sentAt = this.#job.batchAnswer ? undefined : this.#sentAt;
    return { request: this.#request, sentAt, endedAt: this.#context.ctx.clock.now() };
  }

  async #wait({ runId, recovered }: Extract<JobPlan, { kind: 'wait' }>): Promise<CreatedRun> {
    const { ctx, connection } = this.#context;
    this.#runId = runId;
    this.#beginRunning();
    this.#events.onCreated();
    const run = await waitForKnownRun(ctx, connection, runId, { idFromService: true });
    await this.#context.budget.countWaitedRun(connection, run);
    return recovered ? { ...run, recovered } : run;
  }

  async #create(plan: Exclude<JobPlan, { kind: 'wait' }>): Promise<CreatedRun> {
    const { ctx, stopSignal } = this.#context;
    this.#request = await this.#job.buildRequest();
    this.#entry = plan.kind === 'repeat' ? plan.entry : undefined;

    const body = buildRunBody(this.#request);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#createOnce(body);
      } catch (error) {
        const waitMs = this.#computeResendDelay(error, attempt);
        if (waitMs === undefined) throw error;
        this.#endRunning();
        await this.#context.journal.recordWaiting(this.#job);
        this.#entry = this.#entry && { ...this.#entry, outcome: 'refused' };
        await ctx.clock.sleep(waitMs, AbortSignal.any([ctx.signal, stopSignal]));
      }
    }
  }

  async #createOnce(body: RunBody): Promise<CreatedRun> {
    const { ctx, connection, journal, budget, estimatedCredits, stopSignal } = this.#context;
    const creation = await createAndWait(ctx, connection, body, {
      retries: 0,
      budget,
      reservation: this.#job.reservation,
      estimatedCredits: this.#job.estimatedCredits ?? estimatedCredits,
      entry: this.#entry,
      searchesIfLost: false,
      unsentSignal: stopSignal,
      takeTurn:
        this.#entry === undefined
          ? () => takeTurn(connection, AbortSignal.any([ctx.signal, stopSignal]))
          : undefined,
      onSent: () => {
        this.#sentAt = ctx.clock.now();
        this.#beginRunning();
      },
      onBegin: entry => {
        this.#entry = entry;
        return this.#job.batchAnswer ? undefined : journal.recordCreation(this.#job, entry);
      },
      onRunId: async (runId, recovered) => {
        this.#runId = runId;
        await journal.recordRun(this.#job, { runId, recovered });
        this.#events.onCreated();
      },
    });
    if (creation.kind === 'running') throw new Error('the run is still running after the wait');
    return creation.run;
  }

  /**
   * Returns the milliseconds to wait before the creation is sent again, or undefined if it must not
   * be.
   */
  #computeResendDelay(error: unknown, attempt: number): number | undefined {
    const { ctx, stopSignal } = this.#context;
    if (this.#runId !== undefined || stopSignal.aborted || !maySendAgain(error)) return undefined;
    if (toTimeLimitError(error, ctx.timeLeftMs()) !== undefined) return undefined;

    const isLimited = error instanceof RateLimitError;
    const policy = isLimited ? CREATION_RETRIES : SERVICE_RETRIES;
    const retryAfterMs = isLimited ? error.retryAfterMs : undefined;

    return computeRetryDelay(
      { method: 'POST', attempt, error, retryAfterMs },
      () => ctx.clock.random(),
      policy,
    );
  }

  /**
   * Returns the outcome of a job that was dropped while it ran.
   *
   * @param error the error that ended it
   */
  #toDroppedOutcome(error: unknown): JobOutcome {
    const { connection } = this.#context;
    const ownRunId = connection.inProcessRuns && findErrorRunId(error);
    const isSent = this.#entry !== undefined && this.#entry.outcome !== 'refused';
    const isLost =
      !this.#job.batchAnswer && isSent && this.#runId === undefined && mayHaveBeenSent(error);

    return {
      kind: 'dropped',
      isInDoubt: ownRunId === undefined && isLost,
      runId: ownRunId,
      details: this.#collectDetails(),
    };
  }

  /**
   * Returns the outcome of a job whose run is known, but whose end is not.
   *
   * @throws errors that end all jobs
   */
  #toOutcomeWithRun(runId: string, error: unknown): JobOutcome {
    if (isFatal(error)) throw error;
    if (error instanceof NotFoundError) {
      return { kind: 'failed', runId, details: this.#collectDetails(), error, mayHaveRun: false };
    }
    return { kind: 'running', runId, error };
  }

  /**
   * Returns the outcome of a job without a known run.
   *
   * @throws errors that end all jobs
   */
  #toOutcomeWithoutRun(error: unknown): JobOutcome {
    const entry = this.#entry;
    const postponement = this.#findPostponement(error);
    if (postponement !== undefined) {
      return { kind: 'postponed', error: postponement, isInJournal: entry !== undefined };
    }

    const isInDoubt =
      error instanceof CreationInDoubtError || (isWaitTimeout(error) && mayHaveBeenSent(error));
    if (isInDoubt && entry !== undefined) return { kind: 'in doubt', entry, candidates: [], error };
    if (isInDoubt || isFatal(error)) throw error;

    const mayHaveRun = error instanceof ServiceError && error.httpStatus >= 500;
    return { kind: 'failed', runId: undefined, details: this.#collectDetails(), error, mayHaveRun };
  }

  /**
   * Returns the error to report if the job has no run for a reason that concerns other jobs too;
   * else undefined.
   */
  #findPostponement(error: unknown): unknown {
    const { ctx, stopSignal } = this.#context;
    const isUnsent = this.#entry === undefined && !this.#job.batchAnswer;
    const madeNoRun = isUnsent || error instanceof RateLimitError;
    const timeIsUp = madeNoRun ? toTimeLimitError(error, ctx.timeLeftMs()) : undefined;
    if (timeIsUp !== undefined) return timeIsUp;

    const concernsAllJobs = refusesEveryJob(error) || wasNeverSent(error) || isCapReached(error);
    const isStopped =
      error instanceof NoMoreRunsError || (maySendAgain(error) && stopSignal.aborted);
    return concernsAllJobs || isStopped ? error : undefined;
  }
}

function isWaitTimeout(error: unknown): boolean {
  return error instanceof CliError && error.exitCode === EXIT.waitTimeout;
}
