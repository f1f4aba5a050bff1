import type { BatchAnswer } from '../../models/provider-batches/batch-provider.ts';
import { PendingWork, retryForever } from '../core/background-work.ts';
import type { Clock } from '../core/clock.ts';
import type { Meter } from '../core/meter.ts';
import {
  CreationRefused,
  type NewRun,
  type Outcome,
  type QueuedRun,
  type StoredRun,
  type UserLimits,
} from '../store/run-records.ts';
import type { Store } from '../store/store.ts';
import type { Executor } from './executor.ts';
import { type HeldResults, RESULT_LOST, ResultLost } from './held-results.ts';
import type { InputFiles } from './input-files.ts';

/** A run that is neither started nor queued yet. */
export type NewlyMade = Omit<NewRun, 'status' | 'worker' | 'outcome'>;

export interface Created {
  /** The run's own id, or that of the one which the same creation made before. */
  readonly runId: string;
  /** How the run ends; undefined where this process will not see it. */
  readonly ending: Promise<Outcome | undefined> | undefined;
}

/** Sees to new runs, in its own way: a command carries out its own at once, `serve` queues them. */
export interface Runner {
  /** Puts a run on disk, and has it carried out; throws CreationRefused. */
  create(run: NewlyMade): Promise<Created>;
  /** Ends a run that has not ended as failed, whoever carries it out. */
  cancel(runId: string): Promise<void>;
}

/** How a run ended that this process carried out. */
export interface RunEnd {
  readonly runId: string;
  readonly userId: number;
  readonly status: Outcome['status'];
  /** From its start, in milliseconds. */
  readonly durationMs: number;
}

export interface RunWorkOptions {
  readonly store: Store;
  readonly executor: Executor;
  readonly inputs: InputFiles;
  readonly clock: Clock;
  readonly results: HeldResults;
  /** What providers answered in batches, by the keys of the creations that take it. */
  readonly batchAnswers: ReadonlyMap<string, BatchAnswer>;
  /** The runs whose programs are running: none of them is started again. */
  readonly programs: Set<string>;
  readonly meter?: Meter | undefined;
  /** Called for each run that ended here and was written down. */
  readonly onEnd?: ((run: RunEnd) => void) | undefined;
  /** Faults that no caller hears of. */
  readonly onFault: (error: unknown) => void;
  readonly limits: UserLimits;
}

/** What a run says that its user has ended. */
export const CANCELLED = 'cancelled';

/** Carries runs out in this process, and writes down how they end. */
export class RunWork {
  readonly pending = new PendingWork();
  readonly #options: RunWorkOptions;
  readonly #stop = new AbortController();
  readonly #running = new Map<string, AbortController>();

  constructor(options: RunWorkOptions) {
    this.#options = options;
  }

  /** The runs that are being carried out. */
  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** Puts a run on disk; pictures of the user's former runs make room for it. */
  async keep(run: NewRun): Promise<string> {
    const { store, inputs, clock, limits, meter } = this.#options;
    const create = async (): Promise<string> => {
      const id = await store.runs.create(run, limits, clock.now());
      if (id === run.id) meter?.runCreated(meterModel(run));
      return id;
    };
    return await create().catch(async (error: unknown) => {
      const isFull = error instanceof CreationRefused && error.reason === 'space';
      if (!isFull || !(await inputs.makeRoom(run.userId))) throw error;
      return await create();
    });
  }

  /** Gives how a run on disk ended; undefined where it was stopped on the way and stays as it is. Never rejects. */
  carryOut(run: QueuedRun): Promise<Outcome | undefined> {
    return this.pending.track(this.#carryOut(run));
  }

  /** Stops a run here that has ended otherwise; its late answer is dropped. */
  drop(runId: string): void {
    this.#running.get(runId)?.abort(new Error('the run has ended'));
  }

  /** Drops what was ended by others. */
  async dropEnded(): Promise<void> {
    const { store } = this.#options;
    const { running } = this;
    if (running.length === 0) return;
    const ours = new Set(await store.queue.runningOf(await store.workers.register()));
    for (const id of running) if (!ours.has(id)) this.drop(id);
  }

  /** Stops every run; resolves once nothing is being carried out. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the service is stopping'));
    for (const run of this.#running.values()) run.abort(this.#stop.signal.reason);
    await this.pending.ended();
  }

  async #carryOut(run: QueuedRun): Promise<Outcome | undefined> {
    const { store, executor, clock, meter, onEnd, onFault } = this.#options;
    const stopped = new AbortController();
    const { signal } = stopped;
    if (this.#stop.signal.aborted) stopped.abort(this.#stop.signal.reason);
    this.#running.set(run.id, stopped);
    const startedAt = clock.now();
    const createdAt = run.createdAt === undefined ? startedAt : run.createdAt / 1000;
    meter?.runStarted(meterModel(run), Math.max(0, startedAt - createdAt));
    try {
      const executed = await executor(run, signal);
      const outcome = executed && (await this.#settle(run, { ...executed, endedAt: clock.now() }, signal));
      const ended = outcome ?? outcomeOf((await store.runs.ended([run.id]))[0]);
      const { id: runId, userId } = run;
      if (ended) meter?.runEnded(meterModel(run), ended.status, Math.max(0, clock.now() - createdAt));
      if (ended) onEnd?.({ runId, userId, status: ended.status, durationMs: clock.now() - startedAt });
      return ended;
    } catch (error) {
      onFault(error);
      return undefined;
    } finally {
      if (!this.#stop.signal.aborted) this.#options.programs.delete(run.id);
      this.#running.delete(run.id);
    }
  }

  /**
   * Writes down how a run ended, and gives it; undefined if it had ended otherwise, or the signal stopped it. The result may
   * have cost money: it is kept until it can be written down, unless the database is away for too long.
   */
  async #settle(run: QueuedRun, executed: Outcome, signal: AbortSignal): Promise<Outcome | undefined> {
    const { store, clock, onFault, results } = this.#options;
    let outcome = executed;
    const held = results.hold(run.id, () => Buffer.byteLength(JSON.stringify(executed.outputs)));
    const settle = async () => store.runs.settle(run, await store.workers.register(), outcome);
    const onFailure = (error: unknown): void => {
      onFault(error);
      try {
        held.check(error);
      } catch (fault) {
        if (!(fault instanceof ResultLost)) throw fault;
        const outputs = [{ type: 'error', data: RESULT_LOST }] as const;
        outcome = { ...executed, status: 'failed', outputs: [...outputs], media: [] };
      }
    };
    try {
      return (await retryForever(settle, { clock, onFault: onFailure, signal })) ? outcome : undefined;
    } finally {
      held.release();
    }
  }
}

/** What any process can carry out needs no model by name. */
function meterModel({ model = '' }: { readonly model?: string | undefined }): string {
  return model === '' ? 'any' : model;
}

/** The outcome of a run that was read; undefined while it is unfinished. */
export function outcomeOf(run: StoredRun | undefined): Outcome | undefined {
  if (run?.status !== 'succeeded' && run?.status !== 'failed') return undefined;
  const { status, outputs, tokens, warnings } = run;
  return { status, outputs, tokens, warnings, media: [] };
}
