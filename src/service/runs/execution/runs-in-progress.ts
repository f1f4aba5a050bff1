import { PendingWork, retryForever } from '../../core/background-work.ts';
import {
  CreationRefused,
  findOutcome,
  type NewRun,
  type QueuedRun,
  type RunOutcome,
} from '../../store/runs/run-records.ts';
import { ResultLost } from './held-results.ts';
import type { RunnerOptions } from './runner.ts';

/** The runs that this process carries out. Stores new ones, and the ends of all. */
export class RunsInProgress {
  readonly pending = new PendingWork();
  readonly #options: RunnerOptions;
  readonly #stop = new AbortController();
  readonly #running = new Map<string, AbortController>();

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** The ids of the runs that are being carried out. */
  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  /**
   * Stores a run; images of the user's earlier runs are deleted if necessary to make room.
   *
   * @param createdAt in milliseconds; default now
   */
  async storeNew(run: NewRun, createdAt = this.#options.clock.now()): Promise<string> {
    const { store, inputs, limits, meter } = this.#options;
    const create = async (): Promise<string> => {
      const id = await store.runs.create(run, limits, createdAt);
      if (id === run.id) meter?.recordRunCreation(getMeterModel(run));
      return id;
    };
    return await create().catch(async (error: unknown) => {
      const isFull = error instanceof CreationRefused && error.reason === 'space';
      if (!isFull || !(await inputs.makeRoom(run.userId))) throw error;
      return await create();
    });
  }

  /**
   * Carries out a stored run and returns its end; undefined if it was stopped and stays unfinished.
   * Never rejects.
   */
  carryOut(run: QueuedRun): Promise<RunOutcome | undefined> {
    return this.pending.track(this.#carryOut(run));
  }

  /** Stops a run here that has already ended in the store; a late answer is dropped. */
  abort(runId: string): void {
    this.#running.get(runId)?.abort(new Error('the run has ended'));
  }

  /** Aborts runs that other processes have ended. */
  async abortEnded(): Promise<void> {
    const { store } = this.#options;
    const { running } = this;
    if (running.length === 0) return;
    const ownRuns = new Set(await store.queue.findRunning(await store.workers.register()));
    for (const id of running) if (!ownRuns.has(id)) this.abort(id);
  }

  /** Stops every run; resolves once none is being carried out. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the service is stopping'));
    for (const run of this.#running.values()) run.abort(this.#stop.signal.reason);
    await this.pending.waitForAll();
  }

  async #carryOut(run: QueuedRun): Promise<RunOutcome | undefined> {
    const { store, executor, clock, meter, onEnd, onFault } = this.#options;
    const runController = new AbortController();
    const { signal } = runController;
    if (this.#stop.signal.aborted) runController.abort(this.#stop.signal.reason);
    this.#running.set(run.id, runController);
    const startedAt = clock.now();
    const createdAt = run.createdAt === undefined ? startedAt : run.createdAt / 1000;
    meter?.recordRunStart(getMeterModel(run), Math.max(0, startedAt - createdAt));

    try {
      const result = await executor(run, signal);
      const outcome =
        result && (await this.#settle(run, { ...result, endedAt: clock.now() }, signal));
      const end = outcome ?? findOutcome((await store.runs.findEnded([run.id]))[0]);
      const { id: runId, userId } = run;
      const durationMs = Math.max(0, clock.now() - startedAt);

      if (end) {
        meter?.recordRunEnd(getMeterModel(run), end.status, Math.max(0, clock.now() - createdAt));
      }

      if (end) onEnd?.({ runId, userId, status: end.status, durationMs });
      return end;
    } catch (error) {
      onFault(error);
      return undefined;
    } finally {
      if (!this.#stop.signal.aborted) this.#options.programs.delete(run.id);
      this.#running.delete(run.id);
    }
  }

  /**
   * Stores how a run ended and returns it; undefined if it had already ended, or the signal stopped
   * it. The result may have cost money, so it is held until it can be stored, unless the database
   * is away for too long.
   */
  async #settle(
    run: QueuedRun,
    result: RunOutcome,
    signal: AbortSignal,
  ): Promise<RunOutcome | undefined> {
    const { store, clock, onHeld, results, unstored } = this.#options;

    // Replaced if the result can't be held any longer.
    let outcome = result;
    const heldResult = results.hold(run.id, () =>
      Buffer.byteLength(JSON.stringify(result.outputs)),
    );
    const settle = async () => store.runs.settle(run, await store.workers.register(), outcome);

    const onFailure = (error: unknown): void => {
      onHeld(error);
      try {
        heldResult.recordFailure(error);
      } catch (fault) {
        if (!(fault instanceof ResultLost)) throw fault;
        outcome = { ...result, ...toLostOutcome(fault) };
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
function getMeterModel({ model = '' }: { readonly model?: string | undefined }): string {
  return model === '' ? 'any' : model;
}

function toLostOutcome({ runError }: ResultLost): Pick<RunOutcome, 'status' | 'outputs' | 'media'> {
  return { status: 'failed', outputs: [{ type: 'error', data: runError }], media: [] };
}
