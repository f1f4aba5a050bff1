import type { QueuedRun } from '../store/run-queue.ts';
import type { Outcome } from '../store/run-records.ts';
import { Claims, TurnTaking } from './claims.ts';
import { failUnfinished, settleDeadWorkers } from './current-runs.ts';
import {
  CANCELLED,
  type Created,
  type NewlyMade,
  outcomeOf,
  type Runner,
  RunWork,
  type RunWorkOptions,
} from './run-work.ts';

export interface QueueRunnerOptions extends RunWorkOptions {
  /** The models that runs can be carried out with here; asked on a shared store only. */
  readonly models: () => string[];
  /** Runs at a time; the rest is queued. Default 32: an engine mostly waits for somebody else. */
  readonly parallel?: number | undefined;
  /** Whether a run that its process did not survive is run once more; default true. */
  readonly rerun?: boolean | undefined;
}

const PARALLEL = 32;
/** How often runs are looked for that no living process has in hand, in milliseconds. */
const CLAIM_EVERY_MS = 2000;

/** The runs of `serve`: a bounded number at a time and the users in turn; the rest waits in the queue of all processes. */
export class QueueRunner implements Runner {
  readonly #options: QueueRunnerOptions;
  readonly #stop = new AbortController();
  readonly #turns: TurnTaking;
  readonly #work: RunWork;
  readonly limits: RunWork['limits'];
  readonly #claims: Claims;
  /** Those who wait for runs to end, wherever these are carried out. */
  readonly #waiting = new Map<string, (outcome: Outcome | undefined) => void>();

  constructor(options: QueueRunnerOptions) {
    this.#options = options;
    this.#work = new RunWork(options);
    this.limits = this.#work.limits;
    this.#turns = new TurnTaking(options.parallel ?? PARALLEL);
    const { store, models, onFault } = options;
    const { pending } = this.#work;
    const begin = (run: QueuedRun): void => this.#begin(run);
    this.#claims = new Claims({ store, turns: this.#turns, pending, models, begin, onFault });
  }

  /** Picks up what earlier or dead processes left, now and from time to time. */
  start(): void {
    const { store, onFault } = this.#options;
    store.signals.subscribe({
      onQueued: () => this.#claims.claim(),
      onEnded: runId => void this.#noticeEnded(runId).catch(onFault),
    });
    void this.#keepClaiming();
  }

  create(run: NewlyMade): Promise<Created> {
    return this.#work.pending.track(this.#create(run));
  }

  async cancel(runId: string): Promise<void> {
    const { store } = this.#options;
    if (!(await store.runs.fail(runId, CANCELLED))) return;
    this.#work.drop(runId);
    await this.#noticeEnded(runId);
    store.signals.ended(runId);
  }

  /**
   * Takes no more runs up, gives those that run `graceMs` to end, and releases the rest as if they had never been
   * started: they go on at the next start, unless runs are never run once more.
   */
  async close(graceMs: number): Promise<void> {
    this.#stop.abort(new Error('the service is stopping'));
    this.#claims.stop();
    const { clock, store, onFault, rerun = true } = this.#options;
    await this.#work.pending.endedWithin(graceMs, clock);
    await this.#work.stop();
    const worker = store.workers.registered();
    if (worker !== undefined) {
      await (rerun ? store.queue.release(worker) : failUnfinished(store, worker)).catch(onFault);
    }
    store.signals.queued();
    for (const runId of this.#waiting.keys()) this.#report(runId, undefined);
    await store.workers.release().catch(onFault);
  }

  get #closing(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Puts a run on disk, to be carried out now or later. */
  async #create(run: NewlyMade): Promise<Created> {
    const { store } = this.#options;
    const isStarted = !this.#closing && this.#turns.take(run);
    const ending = new Promise<Outcome | undefined>(resolve => this.#waiting.set(run.id, resolve));
    try {
      const worker = isStarted ? await store.workers.register() : null;
      const creation = await this.#work.keep({ ...run, status: isStarted ? 'running' : 'queued', worker });
      if (creation.state !== 'created') {
        this.#forget(run.id);
      } else if (isStarted) {
        void this.#work.pending.track(this.#run(run));
      } else if (this.#closing) {
        this.#report(run.id, undefined);
      } else {
        // The first process with room takes it up.
        this.#claims.claim();
        store.signals.queued();
      }
      return { creation, ending };
    } catch (error) {
      this.#forget(run.id);
      throw error;
    }
  }

  #forget(runId: string): void {
    this.#report(runId, undefined);
    this.#endTurn(runId);
  }

  /** Of what was claimed while closing, nothing is started: it is let go of at the end. */
  #begin(run: QueuedRun): void {
    if (this.#closing) return;
    this.#turns.begin(run);
    void this.#work.pending.track(this.#run(run));
  }

  async #run(run: QueuedRun): Promise<void> {
    const outcome = await this.#work.carryOut(run);
    if (outcome && !this.#waiting.has(run.id)) this.#options.store.signals.ended(run.id);
    if (outcome) this.#report(run.id, outcome);
    this.#endTurn(run.id);
  }

  #report(runId: string, outcome: Outcome | undefined): void {
    this.#waiting.get(runId)?.(outcome);
    this.#waiting.delete(runId);
  }

  #endTurn(id: string): void {
    this.#turns.end(id);
    if (this.#turns.moreLeft) this.#claims.claim();
  }

  async #keepClaiming(): Promise<void> {
    const { store, clock, onFault, rerun = true } = this.#options;
    while (!this.#closing) {
      await this.#work.pending.track(settleDeadWorkers(store, { rerun })).catch(onFault);
      await this.#noticeEnded().catch(onFault);
      await this.#claims.claimWithoutStrays();
      await clock.sleep(CLAIM_EVERY_MS, this.#stop.signal).catch(() => {});
    }
  }

  /** Reports what others have carried out or ended, of one run or of all that are awaited or carried out here. */
  async #noticeEnded(runId?: string): Promise<void> {
    if (runId === undefined || this.#turns.has(runId)) await this.#work.dropEnded();
    const ids = runId === undefined ? [...this.#waiting.keys()] : [runId];
    const awaited = ids.filter(id => this.#waiting.has(id) && !this.#turns.has(id));
    for (const run of await this.#options.store.runs.ended(awaited)) this.#report(run.id, outcomeOf(run));
  }
}
