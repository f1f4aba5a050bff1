import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock.ts';
import { PendingWork } from '../lifecycle/pending-work.ts';
import { retryForever } from '../lifecycle/retry-forever.ts';
import type { QueuedRun } from '../store/run-queue.ts';
import type { NewRun } from '../store/run-records.ts';
import type { WorkerLocks } from '../store/sqlite/worker-locks.ts';
import type { Store } from '../store/store.ts';
import { claimOrphans } from './claim-orphans.ts';
import { type Ending, Endings } from './endings.ts';
import type { Executor } from './executor.ts';

export interface RunnerOptions {
  store: Store;
  executor: Executor;
  locks: WorkerLocks;
  clock: Clock;
  /** Faults that no caller is told of. */
  onFault: (error: unknown) => void;
  /** Runs at a time; the rest is queued. */
  parallel?: number | undefined;
}

/** Runs at a time by default: an engine mostly waits for somebody else. */
const PARALLEL = 32;
/** How often runs are looked for that nobody has in hand, in milliseconds. */
const CLAIM_EVERY_MS = 2000;

/** Starts runs in order, a bounded number at a time, and writes down how they end. */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #parallel: number;
  readonly #stop = new AbortController();
  readonly #queue: QueuedRun[] = [];
  readonly #endings = new Endings();
  readonly #pending = new PendingWork();
  #slots = 0;
  #closing = false;
  /** Whether nobody may have in hand more runs than could be taken up. */
  #moreLeft = false;
  #claims = true;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#parallel = options.parallel ?? PARALLEL;
    // Every run listens to it: Node would warn of a leak at the eleventh.
    setMaxListeners(0, this.#stop.signal);
  }

  /**
   * Picks up what earlier or dead processes left, now and from time to time. A patient one takes up the first run of
   * others after a while only: a process that is gone in a moment would but start it, in vain and perhaps for money.
   */
  start({ patient = false }: { patient?: boolean } = {}): void {
    this.#claims = !patient;
    void this.#keepClaiming();
  }

  /** Puts a run on disk, then starts or queues it; undefined if the user's balance is too low. */
  create(run: Omit<NewRun, 'status' | 'worker'>): Promise<{ ending: Ending } | undefined> {
    return this.#pending.track(this.#create(run));
  }

  /**
   * Takes no more runs up, gives those that run `graceMs` to end, and lets go of the rest as if they had never been
   * started: they go on at the next start.
   */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const { clock, store, locks } = this.#options;
    await this.#pending.endedWithin(graceMs, clock);
    this.#stop.abort(new Error('the service is stopping'));
    await this.#pending.ended();
    const worker = locks.held();
    if (worker !== undefined) await store.queue.release(worker).catch(this.#options.onFault);
    this.#endings.giveUp();
    await locks.release();
  }

  async #create(run: Omit<NewRun, 'status' | 'worker'>): Promise<{ ending: Ending } | undefined> {
    const { store, locks, clock } = this.#options;
    const worker = this.#closing ? null : await locks.hold();
    const started = worker !== null && this.#takeSlot();
    const ending = this.#endings.of(run.id);
    try {
      const status = started ? 'running' : 'queued';
      const created = await store.runs.create({ ...run, status, worker }, clock.now());
      if (!created) return this.#abandon(run.id, started);
    } catch (error) {
      this.#abandon(run.id, started);
      throw error;
    }
    if (started) void this.#pending.track(this.#run(run));
    else if (worker === null) this.#endings.report(run.id, undefined);
    else this.#queue.push(run);
    return { ending };
  }

  #abandon(id: string, started: boolean): undefined {
    this.#endings.report(id, undefined);
    if (started) this.#freeSlot();
  }

  #takeSlot(): boolean {
    if (this.#slots >= this.#parallel) return false;
    this.#slots += 1;
    return true;
  }

  #freeSlot(): void {
    this.#slots -= 1;
    this.#startQueued();
    if (this.#moreLeft && this.#queue.length === 0) void this.#claimOrphans();
  }

  #startQueued(): void {
    while (!this.#closing && this.#queue.length > 0 && this.#takeSlot()) {
      const run = this.#queue.shift();
      if (run) void this.#pending.track(this.#startAndRun(run));
    }
  }

  async #startAndRun(run: QueuedRun): Promise<void> {
    const ours = await this.#retryForever(worker => this.#options.store.queue.start(run.id, worker));
    if (ours) return await this.#run(run);
    this.#abandon(run.id, true);
  }

  /** Never rejects. A run that is stopped on the way stays as it is on disk, to be let go of. */
  async #run(run: QueuedRun): Promise<void> {
    const { store, executor } = this.#options;
    try {
      const outcome = await executor.execute(run, this.#stop.signal);
      if (!outcome) return;
      // The result may have cost money: it is kept until it can be written down.
      const ours = await this.#retryForever(worker => store.runs.settle(run.id, worker, outcome));
      if (!ours) return;
      this.#endings.report(run.id, outcome);
      await executor.forget(run).catch(this.#options.onFault);
    } finally {
      this.#freeSlot();
    }
  }

  #retryForever<T>(work: (worker: string) => Promise<T>): Promise<T | undefined> {
    const { locks, clock, onFault } = this.#options;
    return retryForever(async () => await work(await locks.hold()), {
      clock,
      onFault,
      signal: this.#stop.signal,
    });
  }

  async #keepClaiming(): Promise<void> {
    const { clock } = this.#options;
    while (!this.#closing) {
      await this.#claimOrphans();
      await clock.sleep(CLAIM_EVERY_MS, this.#stop.signal).catch(() => {});
      this.#claims = true;
    }
  }

  async #claimOrphans(): Promise<void> {
    const may = this.#claims && !this.#closing;
    const free = may ? this.#parallel - this.#slots - this.#queue.length : 0;
    const found = await this.#pending.track(claimOrphans(this.#options, free)).catch(this.#options.onFault);
    this.#moreLeft = may && found?.moreLeft === true;
    this.#queue.push(...(found?.runs ?? []));
    this.#startQueued();
  }
}
