import { setMaxListeners } from 'node:events';
import { Busy } from '../busy.ts';
import type { Clock } from '../clock.ts';
import { persistently } from '../persistently.ts';
import type { QueuedRun } from '../store/run-queue.ts';
import type { NewRun } from '../store/runs-store.ts';
import type { Store } from '../store/store.ts';
import type { WorkerLocks } from '../store/worker-locks.ts';
import { type Ending, Endings } from './endings.ts';
import type { Executor } from './executor.ts';
import { lookAround } from './look-around.ts';

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
const LOOK_AROUND_MS = 2000;

/** Starts runs in order, a bounded number at a time, and writes down how they end. */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #parallel: number;
  readonly #stop = new AbortController();
  readonly #queue: QueuedRun[] = [];
  readonly #endings = new Endings();
  readonly #busy = new Busy();
  #slots = 0;
  #closing = false;
  /** Whether nobody may have in hand more runs than could be taken up. */
  #moreLeft = false;
  #takesUp = true;

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
    this.#takesUp = !patient;
    void this.#keepLookingAround();
  }

  /** Puts a run on disk, then starts or queues it; undefined if the user's balance is too low. */
  create(run: Omit<NewRun, 'status' | 'worker'>): Promise<{ ending: Ending } | undefined> {
    return this.#busy.track(this.#create(run));
  }

  /**
   * Takes no more runs up, gives those that run `graceMs` to end, and lets go of the rest as if they had never been
   * started: they go on at the next start.
   */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const { clock, store, locks } = this.#options;
    await this.#busy.endedWithin(graceMs, clock);
    this.#stop.abort(new Error('the service is stopping'));
    await this.#busy.ended();
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
    if (started) void this.#busy.track(this.#run(run));
    else if (worker === null) this.#endings.tell(run.id, undefined);
    else this.#queue.push(run);
    return { ending };
  }

  #abandon(id: string, started: boolean): undefined {
    this.#endings.tell(id, undefined);
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
    if (this.#moreLeft && this.#queue.length === 0) void this.#lookAround();
  }

  #startQueued(): void {
    while (!this.#closing && this.#queue.length > 0 && this.#takeSlot()) {
      const run = this.#queue.shift();
      if (run) void this.#busy.track(this.#startAndRun(run));
    }
  }

  async #startAndRun(run: QueuedRun): Promise<void> {
    const ours = await this.#persistently(worker => this.#options.store.queue.start(run.id, worker));
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
      const ours = await this.#persistently(worker => store.runs.settle(run.id, worker, outcome));
      if (!ours) return;
      this.#endings.tell(run.id, outcome);
      await executor.forget(run).catch(this.#options.onFault);
    } finally {
      this.#freeSlot();
    }
  }

  #persistently<T>(work: (worker: string) => Promise<T>): Promise<T | undefined> {
    const { locks, clock, onFault } = this.#options;
    return persistently(async () => await work(await locks.hold()), {
      clock,
      onFault,
      signal: this.#stop.signal,
    });
  }

  async #keepLookingAround(): Promise<void> {
    const { clock } = this.#options;
    while (!this.#closing) {
      await this.#lookAround();
      await clock.sleep(LOOK_AROUND_MS, this.#stop.signal).catch(() => {});
      this.#takesUp = true;
    }
  }

  async #lookAround(): Promise<void> {
    const may = this.#takesUp && !this.#closing;
    const free = may ? this.#parallel - this.#slots - this.#queue.length : 0;
    const found = await this.#busy.track(lookAround(this.#options, free)).catch(this.#options.onFault);
    this.#moreLeft = may && found?.moreLeft === true;
    this.#queue.push(...(found?.runs ?? []));
    this.#startQueued();
  }
}
