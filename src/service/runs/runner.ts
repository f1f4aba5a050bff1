import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock.ts';
import { PendingWork, retryForever } from '../lifecycle/background-work.ts';
import type { QueuedRun } from '../store/run-queue.ts';
import type { Creation, NewRun, Outcome, UserLimits } from '../store/run-records.ts';
import type { Store } from '../store/store.ts';
import { type Ending, Endings, outcomeOf } from './endings.ts';
import type { Executor } from './executor.ts';
import { recoverFromDead, releaseStrays } from './recovery.ts';
import { TurnTaking } from './turn-taking.ts';

export interface RunnerOptions {
  store: Store;
  executor: Executor;
  clock: Clock;
  /** Called for each run that ended here and was written down. */
  onEnd?: ((run: RunEnd) => void) | undefined;
  /** Faults that no caller hears of. */
  onFault: (error: unknown) => void;
  /** The models that runs can be carried out with here; asked on a shared store only. */
  models: () => string[];
  /** Runs at a time; the rest is queued. */
  parallel?: number | undefined;
  /** Default 10,000. */
  maxQueued?: number | undefined;
  /** Default 2 GiB. */
  maxMediaBytes?: number | undefined;
}

/** How a run ended that this process carried out. */
export interface RunEnd {
  readonly runId: string;
  readonly userId: number;
  readonly status: Outcome['status'];
  /** From its start, in milliseconds. */
  readonly durationMs: number;
}

/** Runs at a time by default: an engine mostly waits for somebody else. */
const PARALLEL = 32;
/** How often runs are looked for that no living process has in hand, in milliseconds. */
const CLAIM_EVERY_MS = 2000;
const MAX_QUEUED = 10_000;
const MAX_MEDIA_BYTES = 2 * 1024 ** 3;

/** Starts runs, a bounded number at a time and the users in turn, and writes down how they end. */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #limits: UserLimits;
  readonly #stop = new AbortController();
  readonly #turns: TurnTaking;
  readonly #endings = new Endings();
  readonly #pending = new PendingWork();
  #closing = false;
  /** Whether it takes up what no living process has in hand. */
  #takesOrphans = true;
  #claiming: Promise<void> | undefined;
  #claimAgain = false;
  /** Strays are looked for between claims only: what is just being claimed is not in hand yet. */
  #straysDue = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
    const { maxQueued = MAX_QUEUED, maxMediaBytes = MAX_MEDIA_BYTES } = options;
    this.#limits = { queued: maxQueued, mediaBytes: maxMediaBytes };
    this.#turns = new TurnTaking(options.parallel ?? PARALLEL);
    // Every run listens to it: Node would warn of a leak at the eleventh.
    setMaxListeners(0, this.#stop.signal);
  }

  /**
   * Picks up what earlier or dead processes left, now and from time to time. A patient one takes up the first run of
   * others after a while only: a process that is gone in a moment would but start it, in vain and perhaps for money.
   */
  start({ patient = false }: { patient?: boolean } = {}): void {
    this.#takesOrphans = !patient;
    this.#options.store.signals.subscribe({
      onQueued: () => this.#claim(),
      onEnded: runId => void this.#reportFromStore(runId).catch(this.#options.onFault),
    });
    void this.#keepClaiming();
  }

  /** Puts a run on disk unless it is refused, then starts or queues it. */
  create(run: Omit<NewRun, 'status' | 'worker'>): Promise<{ creation: Creation; ending: Ending }> {
    return this.#pending.track(this.#create(run));
  }

  /**
   * Takes no more runs up, gives those that run `graceMs` to end, and releases the rest as if they had never been
   * started: they go on at the next start.
   */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const { clock, store, onFault } = this.#options;
    await this.#pending.endedWithin(graceMs, clock);
    this.#stop.abort(new Error('the service is stopping'));
    await this.#pending.ended();
    const worker = store.workers.registered();
    if (worker !== undefined) await store.queue.release(worker).catch(onFault);
    store.signals.queued();
    this.#endings.giveUp();
    await store.workers.release().catch(onFault);
  }

  async #create(run: Omit<NewRun, 'status' | 'worker'>): Promise<{ creation: Creation; ending: Ending }> {
    const { store, clock } = this.#options;
    const worker = this.#closing ? null : await store.workers.register();
    const started = worker !== null && this.#turns.take(run);
    const ending = this.#endings.of(run.id);
    try {
      const creation = await store.runs.create(
        { ...run, status: started ? 'running' : 'queued', worker: started || !store.shared ? worker : null },
        this.#limits,
        clock.now(),
      );
      if (creation.state !== 'created') this.#abandon(run.id);
      else if (started) void this.#pending.track(this.#run(run));
      else if (worker === null) this.#endings.report(run.id, undefined);
      else this.#noteQueued();
      return { creation, ending };
    } catch (error) {
      this.#abandon(run.id);
      throw error;
    }
  }

  /** The first process with room takes it up. */
  #noteQueued(): void {
    this.#claim();
    this.#options.store.signals.queued();
  }

  #abandon(id: string): void {
    this.#endings.report(id, undefined);
    this.#endTurn(id);
  }

  #endTurn(id: string): void {
    this.#turns.end(id);
    if (this.#turns.moreLeft) this.#claim();
  }

  /** Never rejects. A run that is stopped on the way stays as it is on disk, to be let go of. */
  async #run(run: QueuedRun): Promise<void> {
    const { store, executor, onFault, onEnd, clock } = this.#options;
    const startedAt = clock.now();
    try {
      const outcome = await executor.execute(run, this.#stop.signal);
      if (!outcome) return;
      // The result may have cost money: it is kept until it can be written down.
      const ours = await this.#retryForever(worker => store.runs.settle(run.id, worker, outcome));
      if (!ours) return await this.#reportEnded([run.id]).catch(onFault);
      if (!this.#endings.isAwaited(run.id)) store.signals.ended(run.id);
      this.#endings.report(run.id, outcome);
      const { status } = outcome;
      onEnd?.({ runId: run.id, userId: run.userId, status, durationMs: clock.now() - startedAt });
      await executor.forget(run).catch(onFault);
    } finally {
      this.#endTurn(run.id);
    }
  }

  #retryForever<T>(work: (worker: string) => Promise<T>): Promise<T | undefined> {
    const { store, clock, onFault } = this.#options;
    return retryForever(async () => await work(await store.workers.register()), {
      clock,
      onFault,
      signal: this.#stop.signal,
    });
  }

  async #keepClaiming(): Promise<void> {
    const { store, executor, clock, onFault } = this.#options;
    while (!this.#closing) {
      await this.#pending.track(recoverFromDead(store, executor)).catch(onFault);
      await this.#reportFromStore().catch(onFault);
      this.#straysDue = true;
      this.#claim();
      await this.#claiming;
      await clock.sleep(CLAIM_EVERY_MS, this.#stop.signal).catch(() => {});
      this.#takesOrphans = true;
    }
  }

  /** Reports what others have carried out: one run if it is awaited here, or all that are. */
  async #reportFromStore(runId?: string): Promise<void> {
    const awaited = runId === undefined ? this.#endings.awaited() : [runId];
    await this.#reportEnded(awaited.filter(id => this.#endings.isAwaited(id) && !this.#turns.has(id)));
  }

  async #reportEnded(ids: readonly string[]): Promise<void> {
    for (const run of await this.#options.store.runs.ended(ids)) this.#endings.report(run.id, outcomeOf(run));
  }

  /** Takes up as many queued runs as there is room for; one claim at a time. */
  #claim(): void {
    this.#claimAgain = true;
    this.#claiming ??= this.#pending
      .track(this.#claimAll())
      .catch(this.#options.onFault)
      .finally(() => {
        this.#claiming = undefined;
      });
  }

  async #claimAll(): Promise<void> {
    const { store, models } = this.#options;
    while (this.#claimAgain && !this.#closing) {
      this.#claimAgain = false;
      if (this.#straysDue) await releaseStrays(store, id => this.#turns.has(id));
      this.#straysDue = false;
      const claimed = await store.queue.claim({
        worker: store.workers.registered(),
        register: () => store.workers.register(),
        free: this.#turns.free,
        running: this.#turns.byUser(),
        orphans: this.#takesOrphans,
        models: store.shared ? models() : undefined,
      });
      this.#turns.moreLeft = claimed.moreLeft;
      for (const run of claimed.runs) this.#begin(run);
      this.#claimAgain ||= claimed.moreLeft && claimed.runs.length > 0;
    }
  }

  /** Of what was claimed while closing, nothing is started: it is let go of at the end. */
  #begin(run: QueuedRun): void {
    if (this.#closing) return;
    this.#turns.begin(run);
    void this.#pending.track(this.#run(run));
  }
}
