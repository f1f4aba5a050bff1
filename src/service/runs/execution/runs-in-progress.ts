import { PendingWork, retryForever } from '../../core/background-work.ts';
import {
  CreationRefusedError,
  findOutcome,
  type NewRun,
  type QueuedRun,
  type RunOutcome,
} from '../../store/runs/run-records.ts';
import { ResultLostError } from './held-results.ts';
import type { RunnerOptions } from './runner.ts';

/** The runs that this process carries out. Stores new runs, and the end of each. */
export class RunsInProgress {
  readonly pending = new PendingWork();
  readonly #options: RunnerOptions;
  readonly #stopping = new AbortController();
  readonly #controllersByRun = new Map<string, AbortController>();

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  /** The ids of the runs that are being carried out. */
  get runningIds(): readonly string[] {
    return [...this.#controllersByRun.keys()];
  }

  /**
   * Stores a run and returns its id. Deletes images of the user's earlier runs if that is necessary
   * to make room.
   *
   * @param createdAt in milliseconds; default now
   */
  async storeNew(run: NewRun, createdAt = this.#options.clock.now()): Promise<string> {
    const { store, inputFiles, limits, meter } = this.#options;
    const createRun = async (): Promise<string> => {
      const id = await store.runs.create(run, limits, createdAt);
      if (id === run.id) meter?.recordRunCreation(getModelLabel(run));
      return id;
    };
    return await createRun().catch(async (error: unknown) => {
      const isFull = error instanceof CreationRefusedError && error.reason === 'space';
      if (!isFull || !(await inputFiles.makeRoom(run.userId))) throw error;
      return await createRun();
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
    this.#controllersByRun.get(runId)?.abort(new Error('the run has ended'));
  }

  /** Aborts runs that other processes have ended. */
  async abortEnded(): Promise<void> {
    const { store } = this.#options;
    const { runningIds } = this;
    if (runningIds.length === 0) return;
    const ownRuns = new Set(await store.queue.findRunningIds(await store.workers.register()));
    for (const id of runningIds) if (!ownRuns.has(id)) this.abort(id);
  }

  /** Stops every run; resolves once none is being carried out. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the service is stopping'));
    for (const run of this.#controllersByRun.values()) run.abort(this.#stopping.signal.reason);
    await this.pending.waitForAll();
  }

  async #carryOut(run: QueuedRun): Promise<RunOutcome | undefined> {
    const { store, executor, clock, meter, onRunEnd, onFault } = this.#options;
    const runController = new AbortController();
    const { signal } = runController;
    if (this.#stopping.signal.aborted) runController.abort(this.#stopping.signal.reason);
    this.#controllersByRun.set(run.id, runController);
    const startedAt = clock.now();
    const createdAt = run.createdAt === undefined ? startedAt : run.createdAt / 1000;
    meter?.recordRunStart(getModelLabel(run), Math.max(0, startedAt - createdAt));

    try {
      const result = await executor(run, signal);
      const outcome =
        result && (await this.#settle(run, { ...result, endedAt: clock.now() }, signal));
      const end = outcome ?? findOutcome((await store.runs.findEnded([run.id]))[0]);
      const { id: runId, userId } = run;
      const durationMs = Math.max(0, clock.now() - startedAt);

      if (end) {
        meter?.recordRunEnd(getModelLabel(run), end.status, Math.max(0, clock.now() - createdAt));
        onRunEnd?.({ runId, userId, status: end.status, durationMs });
      }

      return end;
    } catch (error) {
      onFault(error);
      return undefined;
    } finally {
      if (!this.#stopping.signal.aborted) this.#options.programRunIds.delete(run.id);
      this.#controllersByRun.delete(run.id);
    }
  }

  /**
   * Stores the end of a run and returns it. Returns undefined if the run had already ended, or the
   * signal stopped it. The result may have cost money, so it is held until it can be stored, unless
   * the database is away for too long.
   */
  async #settle(
    run: QueuedRun,
    result: RunOutcome,
    signal: AbortSignal,
  ): Promise<RunOutcome | undefined> {
    const { store, clock, onResultHeld, heldResults, unstoredRuns } = this.#options;

    // Replaced if the result can't be held any longer.
    let outcome = result;
    const heldResult = heldResults.hold(run.id, () =>
      Buffer.byteLength(JSON.stringify(result.outputs)),
    );
    const settleRun = async () => store.runs.settle(run, await store.workers.register(), outcome);

    const onFailure = (error: unknown): void => {
      onResultHeld(error);
      try {
        heldResult.recordFailure(error);
      } catch (fault) {
        if (!(fault instanceof ResultLostError)) throw fault;
        outcome = { ...result, ...toLostOutcome(fault) };
      }
    };

    try {
      const isSettled = await retryForever(settleRun, { clock, onFault: onFailure, signal });
      if (isSettled !== undefined) await unstoredRuns.remove(run.id);
      else if (heldResult.loseIfWaiting()) await unstoredRuns.add(run.id);
      return isSettled ? outcome : undefined;
    } finally {
      heldResult.release();
    }
  }
}

/** Returns the model as metrics name it: `any` for a run that any process can carry out. */
function getModelLabel({ model = '' }: { readonly model?: string | undefined }): string {
  return model === '' ? 'any' : model;
}

function toLostOutcome({
  runErrorMessage,
}: ResultLostError): Pick<RunOutcome, 'status' | 'outputs' | 'media'> {
  return { status: 'failed', outputs: [{ type: 'error', data: runErrorMessage }], media: [] };
}
