import PQueue from 'p-queue';
import { recordNoRun, recordRecovered } from '../../creation/find-run.ts';
import { failedOutcome, type Job, type JobOutcome, type JobPlan, noRunFault } from './job.ts';
import { type JobDoubt, type JobWork, runJob } from './run-job.ts';
import { type Settlement, settleDoubts } from './settle-doubts.ts';
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
  #doubts: JobDoubt[] = [];
  #fault: { readonly error: unknown } | undefined;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#creations = new PQueue({ concurrency: parts.concurrency });
  }

  /** Resolves when every job that was started has ended. @throws the first fault that no job could go on after */
  async ended(): Promise<void> {
    await this.#drain();
    await this.#settleDoubts();
    await this.#drain();
    for (const { job, entry, error } of this.#doubts) {
      await this.#settle(job, { kind: 'in doubt', entry, candidates: [], error });
    }
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
    void this.#creations.add(() =>
      stop.isStopping() ? Promise.resolve() : new Promise<void>(free => this.#start(planned, free)),
    );
  }

  /** Until no other job waits for a creation, and not too many jobs are open. */
  async #room(): Promise<void> {
    const { stop } = this.#parts;
    await this.#creations.onSizeLessThan(1);
    while (this.#open.size >= MOST_OPEN && !stop.isStopping()) {
      await Promise.race(this.#open);
    }
  }

  #start(planned: PlannedJob, free: () => void): void {
    const close = this.#parts.onOpen?.();
    const running = this.#do(planned, free).finally(() => {
      close?.();
      this.#open.delete(running);
      free();
    });
    this.#open.add(running);
  }

  async #do({ job, plan }: PlannedJob, free: () => void): Promise<void> {
    try {
      const outcome = await runJob(this.#parts.work, job, plan, free);
      // What is done with a good outcome needs no creation; another one may end the batch before the next job.
      if ('kind' in outcome && isGood(outcome)) free();
      if ('kind' in outcome) {
        await this.#parts.settle(job, outcome);
      } else {
        this.#doubts.push(outcome);
      }
    } catch (error) {
      this.fail(error);
    }
  }

  async #settle(job: Job, outcome: JobOutcome): Promise<void> {
    try {
      await this.#parts.settle(job, outcome);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Now that every other run is known, the one that is left may be the one whose creation was not answered. */
  async #settleDoubts(): Promise<void> {
    const { ctx, connection } = this.#parts.work;
    if (this.#doubts.length === 0 || ctx.signal.aborted) return;
    const doubts = this.#doubts;
    this.#doubts = [];
    const settlements = await settleDoubts(
      ctx,
      connection,
      doubts.map(({ entry }) => entry),
      { signal: ctx.signal, maxPages: doubts.length * PAGES_A_DOUBT },
    );
    for (const [at, doubt] of doubts.entries()) {
      await this.#applySettlement(doubt, settlements[at] ?? { kind: 'in doubt', candidates: [] });
    }
  }

  async #applySettlement({ job, entry, error }: JobDoubt, settlement: Settlement): Promise<void> {
    const { ctx, journal } = this.#parts.work;
    switch (settlement.kind) {
      case 'repeat':
        return this.#relaunch({ job, plan: { kind: 'repeat', entry } });
      case 'wait': {
        const { runId } = settlement;
        ctx.io.note(`note: row ${job.row} goes on with run ${runId}`);
        recordRecovered(ctx, entry, runId);
        await journal.running(job, runId, true);
        return this.#relaunch({ job, plan: { kind: 'wait', runId, recovered: true } });
      }
      case 'none':
        recordNoRun(ctx, entry);
        return this.#settle(job, failedOutcome(ctx, noRunFault()));
      case 'in doubt':
        return this.#settle(job, { kind: 'in doubt', entry, candidates: settlement.candidates, error });
    }
  }

  /** Also where no more jobs are started: this one was. */
  #relaunch(planned: PlannedJob): void {
    void this.#creations.add(() => new Promise<void>(free => this.#start(planned, free)));
  }

  /** No job can go on after this. */
  fail(error: unknown): void {
    this.#fault ??= { error };
    this.#parts.stop.noMoreRows();
  }
}

function isGood(outcome: JobOutcome): boolean {
  return outcome.kind === 'ended' && outcome.run.runStatus === 'succeeded';
}
