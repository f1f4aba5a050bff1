import { countUp } from '../../../utils/count-up.ts';
import { findOutcome, type QueuedRun, type RunOutcome } from '../../store/runs/run-records.ts';
import { NEVER_RERUN, settleDeadWorkers } from './dead-workers.ts';
import {
  type AcceptedRun,
  CANCELLED_RUN,
  type Runner,
  type RunnerOptions,
  type UnstartedRun,
} from './runner.ts';
import { RunsInProgress } from './runs-in-progress.ts';
import { stoppedRunError } from './stopped-run.ts';

export interface QueueRunnerOptions extends RunnerOptions {
  /** Returns the names of the models that this instance has; called only on a shared store. */
  readonly listModels: () => string[];
  /** Maximum number of concurrent runs; default 32, because an engine mostly waits. */
  readonly maxConcurrentRuns?: number | undefined;
  /** True to carry out a run once more if its process died; default true. */
  readonly rerun?: boolean | undefined;
}

const DEFAULT_MAX_CONCURRENT_RUNS = 32;

/**
 * Interval at which a process polls the store for runs that others have queued, left or ended, in
 * milliseconds.
 */
const POLL_INTERVAL_MS = 2000;

/** The same interval on a shared store. */
const SHARED_POLL_INTERVAL_MS = 500;

/**
 * The runs of `serve`: a bounded number at a time and the users in turn; the rest waits in the
 * queue of all processes.
 */
export class QueueRunner implements Runner {
  readonly #options: QueueRunnerOptions;
  readonly #closing = new AbortController();
  readonly #runs: RunsInProgress;
  readonly #maxConcurrentRuns: number;
  /** The users of the runs that this process creates or carries out, by run id. */
  readonly #usersByRun = new Map<string, number>();
  /** True if there may be queued runs, so that a new one must wait for its turn. */
  #hasMoreQueued = false;
  /**
   * The last operation on the queue. Operations run one after the other, because a run that is
   * being claimed is not yet in `#usersByRun`.
   */
  #lastClaim: Promise<void> = Promise.resolve();
  /** True if a claim waits for its turn, so that another one would find nothing more. */
  #isClaimDue = false;
  /** Called with the ends of runs, by run id; any process may carry out a run. */
  readonly #endListeners = new Map<string, (outcome: RunOutcome | undefined) => void>();

  constructor(options: QueueRunnerOptions) {
    this.#options = options;
    this.#runs = new RunsInProgress(options);
    this.#maxConcurrentRuns = options.maxConcurrentRuns ?? DEFAULT_MAX_CONCURRENT_RUNS;
  }

  /** The number of runs that this process is carrying out. */
  get runningCount(): number {
    return this.#runs.runningIds.length;
  }

  get #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Takes over the runs that earlier or dead processes left, now and at intervals. */
  start(): void {
    void this.#pollUntilClosing();
  }

  create(run: UnstartedRun): Promise<AcceptedRun> {
    return this.#runs.pending.track(this.#create(run));
  }

  async cancel(runId: string): Promise<void> {
    const { store, clock } = this.#options;
    const isCancelled = await store.runs.fail(runId, CANCELLED_RUN, clock.now());
    if (!isCancelled) return;
    this.#runs.abort(runId);
    await this.#reportEndedElsewhere([runId]);
  }

  /**
   * Starts no more runs, gives running ones `graceMs` to end, and releases the rest as if they had
   * never been started. They run again at the next start, except for runs of programs, or if no run
   * may be rerun.
   */
  async close(graceMs: number): Promise<void> {
    this.#closing.abort(new Error('the service is stopping'));
    const { clock, store, programRunIds, onFault, rerun = true } = this.#options;
    await this.#runs.pending.waitForAllWithin(graceMs, clock);
    await this.#runs.stop();

    for (const runId of programRunIds) {
      await store.runs
        .fail(runId, stoppedRunError(runId, 'the end of its service', 'serve'))
        .catch(onFault);
    }

    await this.#releaseRuns(rerun).catch(onFault);
    for (const runId of this.#endListeners.keys()) this.#reportEnd(runId, undefined);
    await store.workers.release().catch(onFault);
  }

  async #releaseRuns(rerun: boolean): Promise<void> {
    const { store } = this.#options;
    const worker = await store.workers.register();
    if (rerun) {
      await store.queue.release(worker);
    } else {
      await store.queue.settleDeadWorker(worker, NEVER_RERUN);
    }
  }

  /** Stores a run, to be carried out now or later. */
  async #create(run: UnstartedRun): Promise<AcceptedRun> {
    const { store } = this.#options;
    const isStarted = !this.#isClosing && this.#tryBeginTurn(run);
    const ending = new Promise<RunOutcome | undefined>(resolve =>
      this.#endListeners.set(run.id, resolve),
    );
    try {
      const worker = isStarted ? await store.workers.register() : null;
      const status = isStarted ? 'running' : 'queued';

      const runId = await this.#runs.storeNew({ ...run, status, worker });

      if (runId !== run.id) {
        this.#endTurn(run.id);
      } else if (isStarted) {
        void this.#runs.pending.track(this.#carryOut(run));
      } else {
        this.#claim();
      }

      if (runId !== run.id || (this.#isClosing && !isStarted)) this.#reportEnd(run.id, undefined);
      return { runId, ending };
    } catch (error) {
      this.#reportEnd(run.id, undefined);
      this.#endTurn(run.id);
      throw error;
    }
  }

  /**
   * Begins the turn of a new run if there is room, or if its user has no other run in progress.
   * Otherwise the run has to wait in the queue.
   */
  #tryBeginTurn({ id, userId }: UnstartedRun): boolean {
    const hasRoom = this.#usersByRun.size < this.#maxConcurrentRuns && !this.#hasMoreQueued;
    const isStarted = hasRoom || !this.#countByUser().has(userId);
    if (isStarted) {
      this.#usersByRun.set(id, userId);
    } else {
      this.#hasMoreQueued = true;
    }

    return isStarted;
  }

  #endTurn(runId: string): void {
    this.#usersByRun.delete(runId);
    if (this.#hasMoreQueued) this.#claim();
  }

  /** Counts the runs in progress by user. */
  #countByUser(): Map<number, number> {
    const counts = new Map<number, number>();
    for (const userId of this.#usersByRun.values()) countUp(counts, userId);
    return counts;
  }

  async #carryOut(run: QueuedRun): Promise<void> {
    const outcome = await this.#runs.carryOut(run);
    if (outcome) this.#reportEnd(run.id, outcome);
    this.#endTurn(run.id);
  }

  #reportEnd(runId: string, outcome: RunOutcome | undefined): void {
    this.#endListeners.get(runId)?.(outcome);
    this.#endListeners.delete(runId);
  }

  /** Claims as many queued runs as there is room for. */
  #claim(): void {
    if (this.#isClaimDue) return;
    this.#isClaimDue = true;
    void this.#runAfterLastClaim(() => {
      this.#isClaimDue = false;
      return this.#claimAll();
    });
  }

  #runAfterLastClaim(work: () => Promise<void>): Promise<void> {
    const { pending } = this.#runs;
    this.#lastClaim = pending.track(this.#lastClaim.then(work).catch(this.#options.onFault));
    return this.#lastClaim;
  }

  async #claimAll(): Promise<void> {
    const { store, listModels } = this.#options;
    if (this.#isClosing) return;

    const { runs, hasMore } = await store.queue.claim({
      worker: await store.workers.register(),
      capacity: this.#maxConcurrentRuns - this.#usersByRun.size,
      runningCounts: this.#countByUser(),
      models: store.isShared ? listModels() : undefined,
      // They wait in the queue until the object store is back.
      allowsImages: store.objectStore?.isUnavailable !== true,
    });
    this.#hasMoreQueued = hasMore;

    // Runs that were claimed while closing are not started; they are released at the end.
    if (this.#isClosing) return;

    for (const run of runs) this.#usersByRun.set(run.id, run.userId);
    for (const run of runs) void this.#runs.pending.track(this.#carryOut(run));
  }

  /** Releases runs that the store assigns to this process but whose claim was never answered. */
  async #releaseStrayRuns(): Promise<void> {
    const { store } = this.#options;
    const worker = await store.workers.register();
    const strayRunIds = (await store.queue.findRunningIds(worker)).filter(
      id => !this.#usersByRun.has(id),
    );
    await store.queue.release(worker, strayRunIds);
  }

  async #pollUntilClosing(): Promise<void> {
    const { store, clock } = this.#options;
    const pauseMs = store.isShared ? SHARED_POLL_INTERVAL_MS : POLL_INTERVAL_MS;
    while (!this.#isClosing) {
      await this.#runs.pending.track(this.#poll());
      await clock.sleep(pauseMs, this.#closing.signal).catch(() => {});
    }
  }

  /** Looks for runs that others have queued, left or ended, and stops once it is closing. */
  async #poll(): Promise<void> {
    const { store, onFault, rerun = true } = this.#options;
    const steps = [
      () => settleDeadWorkers(store, { rerun }),
      () => this.#runs.abortEnded(),
      () => this.#reportEndedElsewhere([...this.#endListeners.keys()]),
      () => this.#runAfterLastClaim(() => this.#releaseStrayRuns()),
      () => this.#runAfterLastClaim(() => this.#claimAll()),
    ];
    for (const step of steps) if (!this.#isClosing) await step().catch(onFault);
  }

  /** Reports the ends of those of these runs that other processes have ended. */
  async #reportEndedElsewhere(runIds: readonly string[]): Promise<void> {
    const awaitedRunIds = runIds.filter(
      id => this.#endListeners.has(id) && !this.#usersByRun.has(id),
    );
    for (const run of await this.#options.store.runs.findEnded(awaitedRunIds)) {
      this.#reportEnd(run.id, findOutcome(run));
    }
  }
}
