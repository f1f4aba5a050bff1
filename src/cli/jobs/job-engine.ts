import PQueue from 'p-queue';
import { type InDoubt, type Job, type JobOutcome, type JobPlan, toFailedOutcome } from './job.ts';
import { noRunError } from './job-errors.ts';
import { type JobContext, type JobEvents, runJob } from './run-job.ts';
import {
  recordSettlement,
  type Settlement,
  settleDoubts,
  withCandidates,
} from './settle-doubts.ts';
import type { StopControl } from './stop-control.ts';

/** Maximum number of jobs in progress, including those that are only polled. */
const MAX_OPEN_JOBS = 1000;

/** Maximum number of list pages to read for each creation in doubt. */
const MAX_PAGES_PER_DOUBT = 2;

export interface PlannedJob {
  readonly job: Job;
  readonly plan: JobPlan;
}

export type PlannedJobs = Iterable<PlannedJob> | AsyncIterable<PlannedJob>;

export interface EngineParts {
  readonly jobContext: JobContext;
  /** Maximum number of open creations. */
  readonly concurrency: number;
  readonly stop: StopControl;
  readonly onRunning?: JobEvents['onRunning'];
  /** Called once with the outcome of each job that started; awaited. */
  readonly settle: (job: Job, outcome: JobOutcome) => Promise<void>;
}

/**
 * Runs jobs with a limited number of open creations; resolves when each job has ended. Settles
 * creations in doubt after all other jobs.
 *
 * @throws the first error that must end all other jobs too
 */
export async function runJobs(jobs: PlannedJobs, parts: EngineParts): Promise<void> {
  const engine = new JobEngine(parts);
  try {
    for await (const plannedJob of jobs) {
      if (parts.stop.isStopping()) break;
      await engine.launch(plannedJob);
    }
  } catch (error) {
    // The source of jobs may fail when it is stopped midway.
    if (!parts.stop.isStopping()) engine.fail(error);
  }
  await engine.waitForEnd();
}

class JobEngine {
  readonly #parts: EngineParts;
  readonly #creationQueue: PQueue;
  readonly #openJobs = new Set<Promise<void>>();
  readonly #doubts: { readonly job: Job; readonly outcome: InDoubt }[] = [];
  #fault: { readonly error: unknown } | undefined;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#creationQueue = new PQueue({ concurrency: parts.concurrency });
  }

  /**
   * Queues a job as soon as there is room. The job starts once a slot is free, holds the slot until
   * its creation is answered, and stays open to its end.
   */
  async launch(plannedJob: PlannedJob): Promise<void> {
    await this.#waitForRoom();
    const { stop } = this.#parts;
    void this.#creationQueue.add(async () => {
      const isWanted = plannedJob.job.isWanted?.() ?? true;
      return isWanted && !stop.isStopping() ? this.#start(plannedJob) : undefined;
    });
  }

  /**
   * Resolves when every started job has ended.
   *
   * @throws the first error that must end all other jobs too
   */
  async waitForEnd(): Promise<void> {
    await this.#drain();
    if (!this.#parts.jobContext.ctx.signal.aborted) await this.#settleDoubts();
    await this.#drain();
    for (const { job, outcome } of this.#doubts) await this.#settle(job, outcome);
    if (this.#fault !== undefined) throw this.#fault.error;
  }

  /** Stops the engine after an error that must end all jobs. */
  fail(error: unknown): void {
    this.#fault ??= { error };
    this.#parts.stop.stopStarting();
  }

  async #drain(): Promise<void> {
    await this.#creationQueue.onIdle();
    while (this.#openJobs.size > 0) {
      await Promise.all(this.#openJobs);
    }
  }

  /** Waits until no other job waits for a slot and not too many jobs are open. */
  async #waitForRoom(): Promise<void> {
    const { stop } = this.#parts;
    await this.#creationQueue.onSizeLessThan(1);
    while (this.#openJobs.size >= MAX_OPEN_JOBS && !stop.isStopping()) {
      await Promise.race(this.#openJobs);
    }
  }

  /** Starts a job again, even if no more jobs start. */
  #relaunch(plannedJob: PlannedJob): void {
    void this.#creationQueue.add(() => this.#start(plannedJob));
  }

  /** Starts a job. Resolves once its creation is answered; the job may still run. */
  #start(plannedJob: PlannedJob): Promise<void> {
    return new Promise(freeSlot => {
      const runningJob = this.#run(plannedJob, freeSlot).finally(() => {
        this.#openJobs.delete(runningJob);
        freeSlot();
      });
      this.#openJobs.add(runningJob);
    });
  }

  async #run({ job, plan }: PlannedJob, freeSlot: () => void): Promise<void> {
    try {
      const { jobContext, onRunning } = this.#parts;
      const outcome = await runJob(jobContext, job, plan, { onCreated: freeSlot, onRunning });

      // Register it before anything is written, so that a stop takes effect at once.
      this.#parts.stop.register(outcome);

      if (outcome.kind === 'postponed' && outcome.isInJournal) {
        await jobContext.journal.recordWaiting(job);
      }

      // Let the next job start before a success is settled. A failure may end the batch first, and
      // the outcome of a job with `isWanted` may make the next one superfluous.
      if (outcome.kind === 'ended' && outcome.run.runStatus === 'succeeded' && !job.isWanted) {
        freeSlot();
      }

      if (outcome.kind === 'in doubt') {
        this.#doubts.push({ job, outcome });
      } else {
        await this.#parts.settle(job, outcome);
      }
    } catch (error) {
      this.fail(error);
    }
  }

  async #settle(job: Job, outcome: JobOutcome): Promise<void> {
    await this.#parts.settle(job, outcome).catch((error: unknown) => this.fail(error));
  }

  /**
   * Settles the creations in doubt. By now the runs of all other jobs are known, so a remaining run
   * may be that of a creation in doubt.
   */
  async #settleDoubts(): Promise<void> {
    const { ctx, connection } = this.#parts.jobContext;
    const creations = this.#doubts.splice(0).map(doubt => ({ ...doubt.outcome.entry, ...doubt }));

    const options = { signal: ctx.signal, maxPages: creations.length * MAX_PAGES_PER_DOUBT };
    const settledCreations = await settleDoubts(ctx, connection, creations, options);
    for (const [{ job, outcome }, settlement] of settledCreations) {
      await this.#applySettlement(job, outcome, settlement);
    }
  }

  async #applySettlement(job: Job, outcome: InDoubt, settlement: Settlement): Promise<void> {
    const { ctx, connection, journal } = this.#parts.jobContext;
    const { entry } = outcome;
    await recordSettlement(ctx, journal, { job, creation: entry }, settlement);

    switch (settlement.kind) {
      case 'repeat':
        return this.#relaunch({ job, plan: { kind: 'repeat', entry } });
      case 'wait':
        return this.#relaunch({ job, plan: { ...settlement, recovered: true } });
      case 'none':
        return this.#settle(job, toFailedOutcome(ctx, noRunError()));
      case 'in doubt':
        return this.#settle(job, withCandidates(outcome, settlement.candidates, connection));
    }
  }
}
