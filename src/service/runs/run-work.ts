import type { BatchAnswer } from '../../models/provider-batches/batch-provider.ts';
import { PendingWork, retryForever } from '../core/background-work.ts';
import type { Clock } from '../core/clock.ts';
import type { Meter } from '../core/meter.ts';
import {
  CreationRefused,
  type NewRun,
  type QueuedRun,
  type RunOutcome,
  type StoredRun,
  type UserLimits,
} from '../store/runs/run-records.ts';
import type { Store } from '../store/store.ts';
import type { Executor } from './executor.ts';
import { type HeldResults, ResultLost } from './held-results.ts';
import type { InputFiles } from './input-files.ts';
import type { UnstoredRuns } from './unstored-runs.ts';

/** A new run that is neither started nor queued. */
export interface UnstartedRun extends Omit<NewRun, 'status' | 'worker' | 'outcome'> {
  /** True if its answer costs nothing and depends on nothing but its request, so that it may be made again. */
  readonly isFree: boolean;
}

export interface AcceptedRun {
  /** The id of the run, or of the run that the same creation made before. */
  readonly runId: string;
  /** The end of a run that ended with its creation. */
  readonly outcome?: RunOutcome;
  /** The end of a run that continues; left out if this process will not see it. */
  readonly ending?: Promise<RunOutcome | undefined>;
}

/** Accepts new runs: a command carries out its own immediately, `serve` queues them. */
export interface Runner {
  /** Stores a run and has it carried out. @throws {CreationRefused} */
  create(run: UnstartedRun): Promise<AcceptedRun>;
  /** Fails a run that has not ended, whichever process carries it out. */
  cancel(runId: string): Promise<void>;
}

/** The end of a run that this process carried out. */
export interface RunEnd {
  readonly runId: string;
  readonly userId: number;
  readonly status: RunOutcome['status'];
  /** Milliseconds since its start. */
  readonly durationMs: number;
}

export interface RunWorkOptions {
  readonly store: Store;
  readonly executor: Executor;
  readonly inputs: InputFiles;
  readonly clock: Clock;
  readonly results: HeldResults;
  readonly unstored: UnstoredRuns;
  /** Answers from provider batches, by the keys of their creations. */
  readonly batchAnswers: ReadonlyMap<string, BatchAnswer>;
  /** The runs whose programs are running, which must not be started again. */
  readonly programs: Set<string>;
  readonly meter?: Meter | undefined;
  /** Called for each run that ended here, after its end was stored. */
  readonly onEnd?: ((run: RunEnd) => void) | undefined;
  /** Called each time that an answer can't be stored yet. */
  readonly onHeld: (error: unknown) => void;
  /** Called with faults that no caller sees. */
  readonly onFault: (error: unknown) => void;
  readonly limits: UserLimits;
}

/** The error of a run that its user has cancelled. */
export const CANCELLED_RUN = 'cancelled';

/** Carries out runs in this process and stores how they end. */
export class RunWork {
  readonly pending = new PendingWork();
  readonly #options: RunWorkOptions;
  readonly #stop = new AbortController();
  readonly #running = new Map<string, AbortController>();

  constructor(options: RunWorkOptions) {
    this.#options = options;
  }

  /** The ids of the runs that are being carried out. */
  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  /**
   * Stores a run; pictures of the user's earlier runs are deleted if necessary to make room.
   *
   * @param createdAt in milliseconds; default now
   */
  async storeNew(run: NewRun, createdAt = this.#options.clock.now()): Promise<string> {
    const { store, inputs, limits, meter } = this.#options;
    const create = async (): Promise<string> => {
      const id = await store.runs.create(run, limits, createdAt);
      if (id === run.id) meter?.runCreated(meterModel(run));
      return id;
    };
    return await create().catch(async (error: unknown) => {
      const isFull = error instanceof CreationRefused && error.reason === 'space';
      if (!isFull || !(await inputs.makeRoom(run.userId))) throw error;
      return await create();
    });
  }

  /** Carries out a stored run and returns its end; undefined if it was stopped and stays unfinished. Never rejects. */
  carryOut(run: QueuedRun): Promise<RunOutcome | undefined> {
    return this.pending.track(this.#carryOut(run));
  }

  /** Stops a run here that has already ended in the store; a late answer is dropped. */
  abort(runId: string): void {
    this.#running.get(runId)?.abort(new Error('the run has ended'));
  }

  /** Drops runs that other processes have ended. */
  async abortEnded(): Promise<void> {
    const { store } = this.#options;
    const { running } = this;
    if (running.length === 0) return;
    const ours = new Set(await store.queue.runningAt(await store.workers.register()));
    for (const id of running) if (!ours.has(id)) this.abort(id);
  }

  /** Stops every run; resolves once none is being carried out. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the service is stopping'));
    for (const run of this.#running.values()) run.abort(this.#stop.signal.reason);
    await this.pending.ended();
  }

  async #carryOut(run: QueuedRun): Promise<RunOutcome | undefined> {
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
      const ended = outcome ?? outcomeIfEnded((await store.runs.endedAmong([run.id]))[0]);
      const { id: runId, userId } = run;
      const durationMs = Math.max(0, clock.now() - startedAt);
      if (ended) meter?.runEnded(meterModel(run), ended.status, Math.max(0, clock.now() - createdAt));
      if (ended) onEnd?.({ runId, userId, status: ended.status, durationMs });
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
   * Stores how a run ended and returns it; undefined if it had already ended, or the signal stopped it. The result may have
   * cost money, so it is held until it can be stored, unless the database is away for too long.
   */
  async #settle(run: QueuedRun, executed: RunOutcome, signal: AbortSignal): Promise<RunOutcome | undefined> {
    const { store, clock, onHeld, results, unstored } = this.#options;
    let outcome = executed;
    const heldResult = results.hold(run.id, () => Buffer.byteLength(JSON.stringify(executed.outputs)));
    const settle = async () => store.runs.settle(run, await store.workers.register(), outcome);
    const onFailure = (error: unknown): void => {
      onHeld(error);
      try {
        heldResult.check(error);
      } catch (fault) {
        if (!(fault instanceof ResultLost)) throw fault;
        const outputs = [{ type: 'error', data: fault.shown }] as const;
        outcome = { ...executed, status: 'failed', outputs: [...outputs], media: [] };
      }
    };
    try {
      const isSettled = await retryForever(settle, { clock, onFault: onFailure, signal });
      if (isSettled !== undefined) await unstored.remove(run.id);
      else if (heldResult.stop()) await unstored.add(run.id);
      return isSettled ? outcome : undefined;
    } finally {
      heldResult.release();
    }
  }
}

/** Returns the model for metrics; a run that any process can carry out has none. */
function meterModel({ model = '' }: { readonly model?: string | undefined }): string {
  return model === '' ? 'any' : model;
}

/** Returns the outcome of a stored run; undefined if it has not ended. */
export function outcomeIfEnded(run: StoredRun | undefined): RunOutcome | undefined {
  if (run?.status !== 'succeeded' && run?.status !== 'failed') return undefined;
  const { status, outputs, tokens, warnings } = run;
  return { status, outputs, tokens, warnings, media: [] };
}
