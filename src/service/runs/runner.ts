import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock.ts';
import { PendingWork, retryForever } from '../lifecycle/background-work.ts';
import type { QueuedRun } from '../store/run-queue.ts';
import type { Creation, NewRun, Outcome, UserLimits } from '../store/run-records.ts';
import type { Store } from '../store/store.ts';
import { Claims } from './claims.ts';
import { type Ending, Endings, outcomeOf } from './endings.ts';
import type { Executor } from './executor.ts';
import { recoverFromDead } from './recovery.ts';
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

/** A run that is neither started nor queued yet. */
type NewlyMade = Omit<NewRun, 'status' | 'worker' | 'outcome'>;

interface Created {
  readonly creation: Creation;
  /** How the run ends, or has ended already. */
  readonly ending: Ending | Outcome;
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
  readonly #claims: Claims;
  #closing = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
    const { maxQueued = MAX_QUEUED, maxMediaBytes = MAX_MEDIA_BYTES } = options;
    this.#limits = { queued: maxQueued, mediaBytes: maxMediaBytes };
    this.#turns = new TurnTaking(options.parallel ?? PARALLEL);
    const { store, models, onFault } = options;
    this.#claims = new Claims({
      store,
      turns: this.#turns,
      pending: this.#pending,
      models,
      begin: run => this.#begin(run),
      onFault,
    });
    // Every run listens to it: Node would warn of a leak at the eleventh.
    setMaxListeners(0, this.#stop.signal);
  }

  /**
   * Picks up what earlier or dead processes left, now and from time to time. A patient one takes up the first run of
   * others after a while only: a process that is gone in a moment would but start it, in vain and perhaps for money.
   */
  start({ patient = false }: { patient?: boolean } = {}): void {
    this.#claims.takesOrphans = !patient;
    this.#options.store.signals.subscribe({
      onQueued: () => this.#claims.claim(),
      onEnded: runId => void this.#reportFromStore(runId).catch(this.#options.onFault),
    });
    void this.#keepClaiming();
  }

  /** Puts a run on disk unless it is refused, then starts or queues it. */
  create(run: NewlyMade): Promise<Created> {
    return this.#pending.track(this.#create(run));
  }

  /**
   * Takes no more runs up, gives those that run `graceMs` to end, and releases the rest as if they had never been
   * started: they go on at the next start.
   */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    this.#claims.stop();
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

  async #create(run: NewlyMade): Promise<Created> {
    const { clock, executor } = this.#options;
    const startedAt = clock.now();
    try {
      const isStarted = !this.#closing && this.#turns.take(run);
      const outcome = isStarted ? await executor.executeAtOnce(run, this.#stop.signal) : undefined;
      if (outcome) return await this.#keepEnded(run, outcome, startedAt);
      return await this.#start(run, isStarted);
    } catch (error) {
      this.#abandon(run.id);
      throw error;
    }
  }

  /** Puts a run on disk together with its end: one write instead of two. */
  async #keepEnded(run: NewlyMade, outcome: Outcome, startedAt: number): Promise<Created> {
    const { store } = this.#options;
    const creation = await store.runs.create(
      { ...run, status: 'running', worker: null, outcome },
      this.#limits,
      startedAt,
    );
    if (creation.state === 'created') this.#tellEnd(run, outcome, startedAt);
    this.#endTurn(run.id);
    return { creation, ending: outcome };
  }

  /** Puts a run on disk, to be carried out now or later. */
  async #start(run: NewlyMade, isStarted: boolean): Promise<Created> {
    const { store, clock } = this.#options;
    const worker = isStarted || !this.#closing ? await store.workers.register() : null;
    const ending = this.#endings.of(run.id);
    const status = isStarted ? 'running' : 'queued';
    const creation = await store.runs.create(
      { ...run, status, worker: isStarted || !store.shared ? worker : null },
      this.#limits,
      clock.now(),
    );
    if (creation.state !== 'created') this.#abandon(run.id);
    else if (isStarted) void this.#pending.track(this.#run(run));
    else if (worker === null) this.#endings.report(run.id, undefined);
    else this.#noteQueued();
    return { creation, ending };
  }

  /** The first process with room takes it up. */
  #noteQueued(): void {
    this.#claims.claim();
    this.#options.store.signals.queued();
  }

  #abandon(id: string): void {
    this.#endings.report(id, undefined);
    this.#endTurn(id);
  }

  #endTurn(id: string): void {
    this.#turns.end(id);
    if (this.#turns.moreLeft) this.#claims.claim();
  }

  /** Never rejects. A run that is stopped on the way stays as it is on disk, to be let go of. */
  async #run(run: QueuedRun): Promise<void> {
    const { store, executor, onFault, clock } = this.#options;
    const startedAt = clock.now();
    try {
      const outcome = await executor.execute(run, this.#stop.signal);
      if (!outcome) return;
      // The result may have cost money: it is kept until it can be written down.
      const ours = await this.#retryForever(worker => store.runs.settle(run.id, worker, outcome));
      if (!ours) return await this.#reportEnded([run.id]).catch(onFault);
      if (!this.#endings.isAwaited(run.id)) store.signals.ended(run.id);
      this.#endings.report(run.id, outcome);
      this.#tellEnd(run, outcome, startedAt);
      await executor.forget(run).catch(onFault);
    } finally {
      this.#endTurn(run.id);
    }
  }

  #tellEnd({ id: runId, userId }: QueuedRun, { status }: Outcome, startedAt: number): void {
    const { onEnd, clock } = this.#options;
    onEnd?.({ runId, userId, status, durationMs: clock.now() - startedAt });
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
      await this.#claims.claimWithoutStrays();
      await clock.sleep(CLAIM_EVERY_MS, this.#stop.signal).catch(() => {});
      this.#claims.takesOrphans = true;
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

  /** Of what was claimed while closing, nothing is started: it is let go of at the end. */
  #begin(run: QueuedRun): void {
    if (this.#closing) return;
    this.#turns.begin(run);
    void this.#pending.track(this.#run(run));
  }
}
