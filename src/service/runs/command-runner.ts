import type { EngineFault } from '../../models/engine.ts';
import { PendingWork } from '../core/background-work.ts';
import { Refusal } from '../core/refusal.ts';
import type { Outcome, QueuedRun } from '../store/run-records.ts';
import type { DetachedRun } from './detached-run.ts';
import type { Executor } from './executor.ts';
import {
  CANCELLED,
  type Created,
  type NewlyMade,
  outcomeOf,
  type Runner,
  RunWork,
  type RunWorkOptions,
} from './run-work.ts';
import { stoppedRun } from './stopped-run.ts';

/** How soon a command sees that another has cancelled its run, in milliseconds. */
const WATCH_EVERY_MS = 100;

/** The runs of a command: each is written down, carried out at once and by nobody else, and its end is written down. */
export class CommandRunner implements Runner {
  readonly #options: RunWorkOptions;
  readonly #work: RunWork;
  readonly #creating = new PendingWork();
  /** Creations that must make no run any more, by their keys. */
  readonly #barred = new Set<string>();
  readonly #closing = new AbortController();
  readonly #faults = new Map<string, EngineFault>();
  #watching = false;
  /** Starts a process that carries one run out and outlives this one; undefined while this process does so itself. */
  detach: (() => Promise<DetachedRun>) | undefined;

  constructor(options: RunWorkOptions) {
    this.#options = options;
    this.#work = new RunWork({ ...options, executor: this.#execute });
  }

  /** Why a run that this process carried out failed before a model answered. */
  faultOf(runId: string): EngineFault | undefined {
    return this.#faults.get(runId);
  }

  create(run: NewlyMade): Promise<Created> {
    return this.#creating.track(this.#create(run));
  }

  /** Carries out a run that is on disk as this worker's. */
  async carryOut(run: QueuedRun): Promise<Outcome | undefined> {
    const ending = this.#work.carryOut(run);
    void this.#watch();
    return await ending;
  }

  async cancel(runId: string): Promise<void> {
    await this.#options.store.runs.fail(runId, CANCELLED, this.#options.clock.now());
    this.#work.drop(runId);
  }

  /**
   * Ends the run of a creation as failed, and has the creation make none if it has not yet; undefined where there is no
   * run, `stopped` is false where it had ended by itself.
   *
   * @param by what stops it, such as Ctrl-C
   */
  async stop(
    userId: number,
    idempotencyKey: string,
    by: string,
  ): Promise<{ runId: string; stopped: boolean } | undefined> {
    const { store, clock } = this.#options;
    this.#barred.add(idempotencyKey);
    await this.#creating.ended();
    const created = await store.runs.createdWith(userId, idempotencyKey, clock.now());
    if (!created) return undefined;
    const { id: runId } = created.run;
    const stopped =
      outcomeOf(created.run) === undefined && (await store.runs.fail(runId, stoppedRun(runId, by)));
    this.#work.drop(runId);
    return { runId, stopped };
  }

  /** Stops what is still being carried out. */
  async close(by: string): Promise<void> {
    const { store, onFault } = this.#options;
    this.#closing.abort(new Error('the service is stopping'));
    await this.#creating.ended();
    for (const runId of this.#work.running) {
      await store.runs.fail(runId, stoppedRun(runId, by)).catch(onFault);
    }
    await this.#work.stop();
    await store.workers.release().catch(onFault);
  }

  async #create(run: NewlyMade): Promise<Created> {
    this.#refuseBarred(run);
    const answered = await this.#createAnswered(run);
    if (answered) return answered;
    const detached = await this.detach?.();
    const worker = detached?.worker ?? (await this.#options.store.workers.register());
    this.#refuseBarred(run);
    const kept = this.#work.keep({ ...run, status: 'running', worker });
    const runId = await kept.catch((error: unknown) => {
      detached?.end();
      throw error;
    });
    const isNew = runId === run.id;
    if (!detached) return { runId, ending: isNew ? this.carryOut(run) : undefined };
    await (isNew ? detached.carryOut(run) : detached.end());
    return { runId, ending: undefined };
  }

  /** A run whose provider has answered in a batch is put on disk with its end, so that a kill leaves nothing in between. */
  async #createAnswered(run: NewlyMade): Promise<Created | undefined> {
    const { batchAnswers } = this.#options;
    if (!run.idempotency || !batchAnswers.has(run.idempotency.key)) return undefined;
    const outcome = await this.#execute(run, this.#closing.signal);
    if (!outcome) return undefined;
    const runId = await this.#work.keep({ ...run, status: 'running', worker: null, outcome });
    return { runId, ending: Promise.resolve(outcome) };
  }

  /** The fault is known here before the end of the run is on disk. */
  readonly #execute: Executor = async (run, signal) => {
    const outcome = await this.#options.executor(run, signal);
    if (outcome?.fault) this.#faults.set(run.id, outcome.fault);
    return outcome;
  };

  #refuseBarred({ idempotency }: NewlyMade): void {
    if (this.#closing.signal.aborted || (idempotency && this.#barred.has(idempotency.key))) {
      throw new Refusal('UNAVAILABLE', 'the command was stopped before the run was created');
    }
  }

  async #watch(): Promise<void> {
    if (this.#watching) return;
    this.#watching = true;
    const { clock, onFault } = this.#options;
    while (this.#work.running.length > 0 && !this.#closing.signal.aborted) {
      await clock.sleep(WATCH_EVERY_MS, this.#closing.signal).catch(() => {});
      await this.#work.dropEnded().catch(onFault);
    }
    this.#watching = false;
  }
}
