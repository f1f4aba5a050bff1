import type { PendingWork } from '../lifecycle/background-work.ts';
import type { QueuedRun } from '../store/run-queue.ts';
import type { Store } from '../store/store.ts';

interface ClaimsOptions {
  readonly store: Store;
  readonly turns: TurnTaking;
  /** Counts claims as work. */
  readonly pending: PendingWork;
  /** The models that runs can be carried out with here; asked on a shared store only. */
  readonly models: () => string[];
  /** Called with each run that was claimed. */
  readonly begin: (run: QueuedRun) => void;
  readonly onFault: (error: unknown) => void;
}

/** Takes up as many queued runs as there is room for; one claim at a time. */
export class Claims {
  readonly #options: ClaimsOptions;
  #claiming: Promise<void> | undefined;
  #claimAgain = false;
  /** Strays are looked for between claims only: what is just being claimed is not in hand yet. */
  #straysDue = false;
  #stopped = false;

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  /** Claims now, or again after the claim that goes on. */
  claim(): void {
    const { pending, onFault } = this.#options;
    this.#claimAgain = true;
    this.#claiming ??= pending
      .track(this.#claimAll())
      .catch(onFault)
      .finally(() => {
        this.#claiming = undefined;
      });
  }

  /** Claims after it has let go of runs that the store has as this process's and that it has not. Resolves once that is done. */
  async claimWithoutStrays(): Promise<void> {
    this.#straysDue = true;
    this.claim();
    await this.#claiming;
  }

  /** Begins no further claim. */
  stop(): void {
    this.#stopped = true;
  }

  async #claimAll(): Promise<void> {
    const { store, turns, models, begin } = this.#options;
    while (this.#claimAgain && !this.#stopped) {
      this.#claimAgain = false;
      if (this.#straysDue) await this.#releaseStrays();
      this.#straysDue = false;
      const claimed = await store.queue.claim({
        register: () => store.workers.register(),
        free: turns.free,
        running: turns.byUser(),
        models: store.shared ? models() : undefined,
      });
      turns.moreLeft = claimed.moreLeft;
      for (const run of claimed.runs) begin(run);
      this.#claimAgain ||= claimed.moreLeft && claimed.runs.length > 0;
    }
  }

  async #releaseStrays(): Promise<void> {
    const { store, turns } = this.#options;
    const worker = store.workers.registered();
    if (worker === undefined) return;
    const strays = (await store.queue.runningOf(worker)).filter(id => !turns.has(id));
    await store.queue.release(worker, strays);
  }
}

/** A run as far as turns are concerned. */
type Turn = Pick<QueuedRun, 'id' | 'userId'>;

/** Which runs this process has in hand, and whose may be started. */
export class TurnTaking {
  readonly #limit: number;
  readonly #userOf = new Map<string, number>();
  /** Whether there may be queued runs: then a new one waits for its turn. */
  moreLeft = false;

  /** @param limit runs at a time; a user who has none running may start one beyond it */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get free(): number {
    return Math.max(0, this.#limit - this.#userOf.size);
  }

  /** Starts a new run if there is room; false if it has to be queued. */
  take(turn: Turn): boolean {
    const room = this.free > 0 && !this.moreLeft;
    const may = room || !this.byUser().has(turn.userId);
    if (may) this.begin(turn);
    else this.moreLeft = true;
    return may;
  }

  begin({ id, userId }: Turn): void {
    this.#userOf.set(id, userId);
  }

  end(id: string): void {
    this.#userOf.delete(id);
  }

  has(id: string): boolean {
    return this.#userOf.has(id);
  }

  /** How many runs of each user are in hand. */
  byUser(): Map<number, number> {
    const counts = new Map<number, number>();
    for (const userId of this.#userOf.values()) counts.set(userId, (counts.get(userId) ?? 0) + 1);
    return counts;
  }
}
