import type { Clock } from './clock.ts';
import type { Executor } from './executor.ts';
import { lookAround } from './look-around.ts';
import type { QueuedRun } from './store/run-queue.ts';
import type { NewRun, Outcome } from './store/runs-store.ts';
import type { Store } from './store/store.ts';
import type { WorkerLocks } from './store/worker-locks.ts';

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

/** Resolves once the run has ended; with undefined if this process stops, or loses it, before that. */
type Ending = Promise<Outcome | undefined>;

/** Runs at a time by default: an engine mostly waits for somebody else. */
const PARALLEL = 32;
/** How often runs are looked for that nobody has in hand, in milliseconds. */
const LOOK_AROUND_MS = 2000;
/** Waits between attempts to write an outcome down, in milliseconds; the last is repeated. */
const SETTLE_RETRY_MS = [250, 1000, 5000, 15_000] as const;

/** Starts runs in order, a bounded number at a time, and writes down how they end. */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #parallel: number;
  readonly #stop = new AbortController();
  readonly #queue: QueuedRun[] = [];
  readonly #endings = new Map<string, (outcome: Outcome | undefined) => void>();
  readonly #busy = new Set<Promise<unknown>>();
  #slots = 0;
  #closing = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#parallel = options.parallel ?? PARALLEL;
  }

  /** Picks up what earlier or dead processes left, now and from time to time. */
  start(): void {
    void this.#keepLookingAround();
  }

  /** Puts a run on disk, then starts or queues it; undefined if the user's balance is too low. */
  create(run: Omit<NewRun, 'status' | 'worker'>): Promise<{ ending: Ending } | undefined> {
    return this.#track(this.#create(run));
  }

  /**
   * Takes no more runs up, gives those that run `graceMs` to end, and lets go of the rest as if they had never been
   * started: they go on at the next start.
   */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const { clock, store, locks } = this.#options;
    if (graceMs > 0 && this.#busy.size > 0) await this.#idleWithin(graceMs, clock);
    this.#stop.abort(new Error('the service is stopping'));
    await this.#idle();
    const worker = locks.held();
    if (worker !== undefined) await store.queue.release(worker).catch(this.#options.onFault);
    for (const id of this.#endings.keys()) this.#end(id, undefined);
    await locks.release();
  }

  async #create(run: Omit<NewRun, 'status' | 'worker'>): Promise<{ ending: Ending } | undefined> {
    const { store, locks, clock } = this.#options;
    const worker = this.#closing ? null : await locks.hold();
    const started = worker !== null && this.#takeSlot();
    const ending = this.#endingOf(run.id);
    try {
      const status = started ? 'running' : 'queued';
      const created = await store.runs.create({ ...run, status, worker }, clock.now());
      if (!created) return this.#abandon(run.id, started);
    } catch (error) {
      this.#abandon(run.id, started);
      throw error;
    }
    if (started) void this.#track(this.#run(run));
    else if (worker === null) this.#end(run.id, undefined);
    else this.#queue.push(run);
    return { ending };
  }

  #abandon(id: string, started: boolean): undefined {
    this.#end(id, undefined);
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
  }

  #startQueued(): void {
    while (!this.#closing && this.#queue.length > 0 && this.#takeSlot()) {
      const run = this.#queue.shift();
      if (run) void this.#track(this.#startAndRun(run));
    }
  }

  async #startAndRun(run: QueuedRun): Promise<void> {
    const { store, locks, onFault } = this.#options;
    const ours = await store.queue.start(run.id, await locks.hold()).catch(onFault);
    if (ours) return await this.#run(run);
    // The disk failed or the run was taken over; in either case it is found again by looking around.
    this.#abandon(run.id, true);
  }

  /** Never rejects. A run that is stopped on the way stays as it is on disk, to be let go of. */
  async #run(run: QueuedRun): Promise<void> {
    try {
      const outcome = await this.#options.executor.execute(run, this.#stop.signal);
      const settled = outcome && (await this.#settle(run, outcome));
      if (settled) this.#end(run.id, outcome);
    } finally {
      this.#freeSlot();
    }
  }

  /** Goes on trying while the disk is full or broken: the result may have cost money. */
  async #settle(run: QueuedRun, outcome: Outcome): Promise<boolean> {
    const { store, locks, executor, clock, onFault } = this.#options;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const ours = await store.runs.settle(run.id, await locks.hold(), outcome);
        await executor.forget(run);
        return ours;
      } catch (error) {
        onFault(error);
        const wait = SETTLE_RETRY_MS[Math.min(attempt, SETTLE_RETRY_MS.length - 1)] ?? 0;
        const goOn = await clock.sleep(wait, this.#stop.signal).then(
          () => true,
          () => false,
        );
        if (!goOn) return false;
      }
    }
  }

  #endingOf(id: string): Ending {
    return new Promise(resolve => this.#endings.set(id, resolve));
  }

  #end(id: string, outcome: Outcome | undefined): void {
    this.#endings.get(id)?.(outcome);
    this.#endings.delete(id);
  }

  async #keepLookingAround(): Promise<void> {
    const { clock, onFault } = this.#options;
    while (!this.#closing) {
      await this.#track(this.#lookAround()).catch(onFault);
      await clock.sleep(LOOK_AROUND_MS, this.#stop.signal).catch(() => {});
    }
  }

  async #lookAround(): Promise<void> {
    const free = this.#parallel - this.#slots - this.#queue.length;
    const found = await lookAround(this.#options, this.#closing ? 0 : free);
    this.#queue.push(...found);
    this.#startQueued();
  }

  /** Counts work that has to end before this process may let go of its runs. */
  async #track<T>(work: Promise<T>): Promise<T> {
    this.#busy.add(work);
    try {
      return await work;
    } finally {
      this.#busy.delete(work);
    }
  }

  async #idle(): Promise<void> {
    while (this.#busy.size > 0) await Promise.allSettled(this.#busy);
  }

  async #idleWithin(ms: number, clock: Clock): Promise<void> {
    const enough = new AbortController();
    const idle = this.#idle().then(() => enough.abort(new Error('idle')));
    await Promise.race([idle, clock.sleep(ms, enough.signal).catch(() => {})]);
  }
}
