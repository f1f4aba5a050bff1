import PQueue from 'p-queue';
import { failedOutcome, type InDoubt, type Job, type JobOutcome, type JobPlan, noRunFault } from './job.ts';
import { type JobWork, runJob } from './run-job.ts';
import { recordSettlement, type Settlement, settleDoubts, withCandidates } from './settle-doubts.ts';
import type { Stop } from './stop.ts';

/** Jobs that are started and have not ended, those that are only polled included. */
const MOST_OPEN = 1000;
/** Requests for the list at most for each creation in doubt. */
const PAGES_A_DOUBT = 2;

/** A job and what is to be done with it. */
export interface PlannedJob {
  readonly job: Job;
  readonly plan: JobPlan;
}

export interface EngineParts {
  readonly work: JobWork;
  /** Creations open at a time. */
  readonly concurrency: number;
  readonly stop: Stop;
  /** Called when a job is started; gives what to call when it has ended. */
  readonly onOpen?: () => () => void;
  /** Takes what became of a job, once for each job that was started; awaited. */
  readonly settle: (job: Job, outcome: JobOutcome) => Promise<void>;
}

/**
 * Runs jobs as creations become free, as many at a time as are wanted; resolves when each has ended. Creations in doubt
 * are settled when all others are known.
 *
 * @throws what no job could go on after
 */
export async function runJobs(
  jobs: Iterable<PlannedJob> | AsyncIterable<PlannedJob>,
  parts: EngineParts,
): Promise<void> {
  const engine = new Engine(parts);
  try {
    for await (const planned of jobs) {
      if (parts.stop.isStopping()) break;
      await engine.launch(planned);
    }
  } catch (error) {
    // What gives the jobs is left in the middle when no more are wanted.
    if (!parts.stop.isStopping()) engine.fail(error);
  }
  await engine.ended();
}

class Engine {
  readonly #parts: EngineParts;
  readonly #creations: PQueue;
  readonly #open = new Set<Promise<void>>();
  readonly #doubts: { readonly job: Job; readonly outcome: InDoubt }[] = [];
  #fault: { readonly error: unknown } | undefined;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#creations = new PQueue({ concurrency: parts.concurrency });
  }

  /** Resolves when every job that was started has ended. @throws the first fault that no job could go on after */
  async ended(): Promise<void> {
    await this.#drain();
    if (!this.#parts.work.ctx.signal.aborted) await this.#settleDoubts();
    await this.#drain();
    for (const { job, outcome } of this.#doubts) await this.#settle(job, outcome);
    if (this.#fault !== undefined) throw this.#fault.error;
  }

  async #drain(): Promise<void> {
    await this.#creations.onIdle();
    while (this.#open.size > 0) {
      await Promise.all(this.#open);
    }
  }

  /** Once a creation is free; the job takes it up until its own is over, and is open until it has ended. */
  async launch(planned: PlannedJob): Promise<void> {
    await this.#room();
    const { stop } = this.#parts;
    void this.#creations.add(async () => {
      const isWanted = planned.job.isWanted?.() ?? true;
      return isWanted && !stop.isStopping() ? this.#start(planned) : undefined;
    });
  }

  /** Until no other job waits for a creation, and not too many jobs are open. */
  async #room(): Promise<void> {
    const { stop } = this.#parts;
    await this.#creations.onSizeLessThan(1);
    while (this.#open.size >= MOST_OPEN && !stop.isStopping()) {
      await Promise.race(this.#open);
    }
  }

  /** Also where no more jobs are started: this one was. */
  #relaunch(planned: PlannedJob): void {
    void this.#creations.add(() => this.#start(planned));
  }

  /** Starts a job. Resolves once its creation is over; the job may go on. */
  #start(planned: PlannedJob): Promise<void> {
    return new Promise(free => {
      const close = this.#parts.onOpen?.();
      const running = this.#run(planned, free).finally(() => {
        close?.();
        this.#open.delete(running);
        free();
      });
      this.#open.add(running);
    });
  }

  async #run({ job, plan }: PlannedJob, free: () => void): Promise<void> {
    try {
      const outcome = await runJob(this.#parts.work, job, plan, free);
      // Before anything is written down: nothing more may be created meanwhile.
      this.#parts.stop.take(outcome);
      if (outcome.kind === 'put off' && outcome.isInJournal) await this.#parts.work.journal.waiting(job);
      // What is done with a good outcome needs no creation; another one may end the batch before the next job, and one
      // that others wait for may make them superfluous.
      if (outcome.kind === 'ended' && outcome.run.runStatus === 'succeeded' && !job.isWanted) free();
      if (outcome.kind === 'in doubt') this.#doubts.push({ job, outcome });
      else await this.#parts.settle(job, outcome);
    } catch (error) {
      this.fail(error);
    }
  }

  async #settle(job: Job, outcome: JobOutcome): Promise<void> {
    await this.#parts.settle(job, outcome).catch((error: unknown) => this.fail(error));
  }

  /** Now that every other run is known, the one that is left may be the one whose creation was not answered. */
  async #settleDoubts(): Promise<void> {
    const { ctx, connection } = this.#parts.work;
    const creations = this.#doubts.splice(0).map(doubt => ({ ...doubt.outcome.entry, ...doubt }));
    const options = { signal: ctx.signal, maxPages: creations.length * PAGES_A_DOUBT };
    for (const [{ job, outcome }, settlement] of await settleDoubts(ctx, connection, creations, options)) {
      await this.#applySettlement(job, outcome, settlement);
    }
  }

  async #applySettlement(job: Job, outcome: InDoubt, settlement: Settlement): Promise<void> {
    const { ctx, connection, journal } = this.#parts.work;
    const { entry } = outcome;
    await recordSettlement(ctx, journal, { job, creation: entry }, settlement);
    switch (settlement.kind) {
      case 'repeat':
        return this.#relaunch({ job, plan: { kind: 'repeat', entry } });
      case 'wait':
        return this.#relaunch({ job, plan: { ...settlement, recovered: true } });
      case 'none':
        return this.#settle(job, failedOutcome(ctx, noRunFault()));
      case 'in doubt':
        return this.#settle(job, withCandidates(outcome, settlement.candidates, connection));
    }
  }

  /** No job can go on after this. */
  fail(error: unknown): void {
    this.#fault ??= { error };
    this.#parts.stop.noMoreRows();
  }
}
