import type { EngineFault } from '../../../models/engine.ts';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import { PendingWork } from '../../core/background-work.ts';
import { Refusal } from '../../core/refusal.ts';
import { findOutcome, type QueuedRun, type RunOutcome } from '../../store/runs/run-records.ts';
import type { DetachedRun } from './detached-run.ts';
import type { Executor } from './executor.ts';
import {
  type AcceptedRun,
  CANCELLED_RUN,
  type Runner,
  type RunnerOptions,
  type UnstartedRun,
} from './runner.ts';
import { RunsInProgress } from './runs-in-progress.ts';
import { stoppedRunError } from './stopped-run.ts';

/** Interval at which a command checks if its runs were cancelled elsewhere, in milliseconds. */
const CANCELLATION_CHECK_INTERVAL_MS = 100;

/**
 * Carries out the runs of a command: stores each run, carries it out immediately, and stores its
 * end.
 */
export class CommandRunner implements Runner {
  readonly #options: RunnerOptions;
  readonly #runs: RunsInProgress;
  readonly #pendingCreations = new PendingWork();
  /** Keys of creations that must no longer make a run. */
  readonly #cancelledKeys = new Set<string>();
  readonly #closing = new AbortController();
  readonly #faultsByRun = new Map<string, EngineFault>();
  readonly #unansweredRunIds = new Set<string>();
  #isWatching = false;
  #startDetached: (() => Promise<DetachedRun>) | undefined;
  /** A started process that has no run yet. */
  #nextDetachedRun: DetachedRun | undefined;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#runs = new RunsInProgress({ ...options, executor: this.#execute });
  }

  /** Returns why a run of this process failed before a model answered. */
  findFault(runId: string): EngineFault | undefined {
    return this.#faultsByRun.get(runId);
  }

  /** Returns true if the model of a run of this process was asked and nothing came back. */
  isUnanswered(runId: string): boolean {
    return this.#unansweredRunIds.has(runId);
  }

  /**
   * Carries out all later runs in processes that outlive this one. Starts the first process
   * immediately, so that no creation is left behind if it can't start.
   *
   * @param startDetached starts a process for one run
   * @throws {Refusal} UNAVAILABLE if it does not start
   */
  async detach(startDetached: () => Promise<DetachedRun>): Promise<void> {
    this.#startDetached = startDetached;
    this.#nextDetachedRun = await startDetached().catch((error: unknown) => {
      throw new Refusal('UNAVAILABLE', `no run was made: ${getErrorMessage(error)}`);
    });
  }

  create(run: UnstartedRun): Promise<AcceptedRun> {
    return this.#pendingCreations.track(this.#create(run));
  }

  /** Carries out a stored run that belongs to this worker. */
  async carryOut(run: QueuedRun): Promise<RunOutcome | undefined> {
    const ending = this.#runs.carryOut(run);
    void this.#watchCancellations();
    return await ending;
  }

  async cancel(runId: string): Promise<void> {
    await this.#options.store.runs.fail(runId, CANCELLED_RUN, this.#options.clock.now());
    this.#runs.abort(runId);
  }

  /**
   * Fails the run of a creation or, if there is none yet, keeps the creation from making one.
   * Returns undefined if there is no run; `isStopped` is false if the run had already ended.
   *
   * @param cause for example Ctrl-C
   */
  async stop(
    userId: number,
    idempotencyKey: string,
    cause: string,
  ): Promise<{ runId: string; isStopped: boolean } | undefined> {
    const { store, clock, onFault } = this.#options;
    this.#cancelledKeys.add(idempotencyKey);
    await this.#pendingCreations.waitForAll();
    const created = await store.runs.findByKey(userId, idempotencyKey, clock.now());
    if (!created) return undefined;

    const { id: runId } = created.run;
    const fail = async (): Promise<boolean> =>
      store.runs.fail(runId, stoppedRunError(runId, cause, 'command'));
    const isStopped =
      findOutcome(created.run) === undefined &&
      (await fail().catch((error: unknown) => {
        // The next command fails the run, because this one leaves it unfinished.
        onFault(error);
        return true;
      }));

    this.#runs.abort(runId);
    return { runId, isStopped };
  }

  /** Stops the runs that are still being carried out. */
  async close(cause: string): Promise<void> {
    const { store, onFault } = this.#options;
    this.#closing.abort(new Error('the service is stopping'));
    await this.#pendingCreations.waitForAll();
    this.#nextDetachedRun?.end();

    for (const runId of this.#runs.runningIds) {
      await store.runs.fail(runId, stoppedRunError(runId, cause, 'command')).catch(onFault);
    }

    await this.#runs.stop();
    await store.workers.release().catch(onFault);
  }

  async #create(run: UnstartedRun): Promise<AcceptedRun> {
    this.#requireNotCancelled(run);
    const answeredRun = await this.#createAnswered(run);
    if (answeredRun) return answeredRun;

    const detachedRun = this.#nextDetachedRun ?? (await this.#startDetached?.());
    this.#nextDetachedRun = undefined;
    const worker = detachedRun?.workerId ?? (await this.#options.store.workers.register());
    this.#requireNotCancelled(run);
    const storing = this.#runs.storeNew({ ...run, status: 'running', worker });
    const runId = await storing.catch((error: unknown) => {
      detachedRun?.end();
      throw error;
    });
    const isNew = runId === run.id;
    if (!detachedRun) return { runId, ...(isNew && { ending: this.carryOut(run) }) };

    await (isNew ? detachedRun.carryOut(run) : detachedRun.end());
    return { runId };
  }

  /**
   * Stores a run together with its end if a provider batch has answered it, so that a kill leaves
   * nothing in between, or if its answer may be made again, which saves a transaction.
   */
  async #createAnswered(run: UnstartedRun): Promise<AcceptedRun | undefined> {
    const { batchAnswers, clock } = this.#options;
    const isBatched = run.idempotency !== undefined && batchAnswers.has(run.idempotency.key);
    if (!isBatched && (!run.isRepeatable || this.#startDetached)) return undefined;

    const outcome = await this.#execute(run, this.#closing.signal);
    if (!outcome) return undefined;

    if (!isBatched) this.#requireNotCancelled(run);
    const now = clock.now();
    const storedOutcome = isBatched ? outcome : { ...outcome, endedAt: now };
    const runId = await this.#runs.storeNew(
      { ...run, status: 'running', worker: null, outcome: storedOutcome },
      now,
    );

    return { runId, outcome: storedOutcome };
  }

  /** Carries out a run and remembers its fault before the run's end is stored. */
  readonly #execute: Executor = async (run, signal) => {
    const outcome = await this.#options.executor(run, signal);
    if (outcome?.fault) this.#faultsByRun.set(run.id, outcome.fault);
    if (outcome?.isUnanswered) this.#unansweredRunIds.add(run.id);
    return outcome;
  };

  #requireNotCancelled({ idempotency }: UnstartedRun): void {
    if (this.#closing.signal.aborted || (idempotency && this.#cancelledKeys.has(idempotency.key))) {
      throw new Refusal('UNAVAILABLE', 'the command was stopped before the run was created');
    }
  }

  async #watchCancellations(): Promise<void> {
    if (this.#isWatching) return;

    this.#isWatching = true;
    const { clock, onFault } = this.#options;
    while (this.#runs.runningIds.length > 0 && !this.#closing.signal.aborted) {
      await clock.sleep(CANCELLATION_CHECK_INTERVAL_MS, this.#closing.signal).catch(() => {});
      await this.#runs.abortEnded().catch(onFault);
    }

    this.#isWatching = false;
  }
}
