import type { Clock } from '../../core/clock.ts';
import { DatabaseUnavailableError, ObjectStoreError } from '../../store/store-errors.ts';

/** Maximum size of all waiting results, in bytes. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;

/** A store that results may wait for. */
interface ResultStore {
  readonly name: string;
  /** Maximum time that a result waits for the store, in milliseconds. */
  readonly maxWaitMs: number;
  /** The same time, for messages. */
  readonly maxWaitText: string;
  /** The error of a run whose result is lost. */
  readonly lostMessage: string;
}

const DATABASE: ResultStore = {
  name: 'the database',
  maxWaitMs: 10 * 60_000,
  maxWaitText: '10 minutes',
  lostMessage:
    'the answer could not be stored, because the database of the service was unavailable; it may have been paid for',
};

const OBJECT_STORE: ResultStore = {
  name: 'the object store',
  maxWaitMs: 60_000,
  maxWaitText: 'a minute',
  lostMessage:
    'the output could not be stored, because the object store of the service was unavailable for a minute; it may have been paid for',
};

/** The result of a run can't be held any longer, so the run has failed. */
export class ResultLostError extends Error {
  constructor(
    message: string,
    /** The error that the run shows. */
    readonly runErrorMessage: string,
  ) {
    super(message);
  }
}

interface HeldResultsOptions {
  readonly clock: Clock;
  /** Called once for each lost result. */
  readonly onFault: (error: unknown) => void;
}

/** Limits the results that wait in memory until the database or the object store is back. */
export class HeldResults {
  readonly #options: HeldResultsOptions;
  readonly #memory = new HeldMemory();

  constructor(options: HeldResultsOptions) {
    this.#options = options;
  }

  /**
   * Returns a handle on a result that is about to be stored.
   *
   * @param measureSize returns the size of the result in bytes; called once the result has to wait
   */
  hold(runId: string, measureSize: () => number): HeldResult {
    return new HeldResult(runId, measureSize, this.#memory, this.#options);
  }
}

/** The memory that all waiting results share. */
class HeldMemory {
  #reservedBytes = 0;

  /** Reserves bytes; returns false if there is no room. */
  tryReserve(bytes: number): boolean {
    if (this.#reservedBytes + bytes > MAX_HELD_BYTES) return false;
    this.#reservedBytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#reservedBytes -= bytes;
  }
}

/** A result that may have to wait until it can be stored. */
export class HeldResult {
  readonly #runId: string;
  readonly #measureSize: () => number;
  readonly #memory: HeldMemory;
  readonly #options: HeldResultsOptions;
  #awaitedStore = DATABASE;
  #waitingSince: number | undefined;
  #reservedBytes = 0;
  #lossError: ResultLostError | undefined;

  constructor(
    runId: string,
    measureSize: () => number,
    memory: HeldMemory,
    options: HeldResultsOptions,
  ) {
    this.#runId = runId;
    this.#measureSize = measureSize;
    this.#memory = memory;
    this.#options = options;
  }

  /**
   * Records why the result could not be stored.
   *
   * @throws {ResultLostError} if the result has waited too long, or there is no room for it
   */
  recordFailure(error: unknown): void {
    if (this.#lossError) throw this.#lossError;

    const store = findUnavailableStore(error);
    if (store === undefined) return;

    this.#awaitedStore = store;
    const now = this.#options.clock.now();
    if (this.#waitingSince === undefined) {
      this.#beginToWait(now);
    } else if (now - this.#waitingSince >= store.maxWaitMs) {
      throw this.#recordLoss(`${store.name} has been unavailable for ${store.maxWaitText}`);
    }
  }

  /**
   * Gives the result up when the service stops. Returns true if it was still waiting, and has been
   * reported as lost.
   */
  loseIfWaiting(): boolean {
    if (this.#waitingSince === undefined || this.#lossError) return false;
    this.#recordLoss(`the service stopped while ${this.#awaitedStore.name} was unavailable`);
    return true;
  }

  /** Releases the memory of the result. */
  release(): void {
    this.#memory.release(this.#reservedBytes);
    this.#reservedBytes = 0;
  }

  #beginToWait(now: number): void {
    const bytes = this.#measureSize();
    if (!this.#memory.tryReserve(bytes)) {
      throw this.#recordLoss(
        `${this.#awaitedStore.name} is unavailable, and 256 MiB of other results are waiting`,
      );
    }

    this.#reservedBytes = bytes;
    this.#waitingSince = now;
  }

  #recordLoss(reason: string): ResultLostError {
    this.release();
    this.#lossError = new ResultLostError(
      `the result of run ${this.#runId} is lost, which may have been paid for: ${reason}`,
      this.#awaitedStore.lostMessage,
    );
    this.#options.onFault(this.#lossError);
    return this.#lossError;
  }
}

/** Returns the store that an error reports as unavailable; undefined for any other error. */
function findUnavailableStore(error: unknown): ResultStore | undefined {
  if (error instanceof DatabaseUnavailableError) return DATABASE;
  return error instanceof ObjectStoreError ? OBJECT_STORE : undefined;
}
