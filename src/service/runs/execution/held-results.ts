import type { Clock } from '../../core/clock.ts';
import { DatabaseUnavailableError, ObjectStoreError } from '../../store/store-errors.ts';

/** Maximum size of all waiting results, in bytes. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;

/** A store that results may wait for. */
interface ResultStore {
  readonly name: string;
  /** Maximum time that a result waits for it, in milliseconds, and in words. */
  readonly maxMs: number;
  readonly period: string;
  /** The error of a run whose result is lost. */
  readonly lostMessage: string;
}

const DATABASE: ResultStore = {
  name: 'the database',
  maxMs: 10 * 60_000,
  period: '10 minutes',
  lostMessage:
    'the answer could not be stored, because the database of the service was unavailable; it may have been paid for',
};

const OBJECTS: ResultStore = {
  name: 'the object store',
  maxMs: 60_000,
  period: 'a minute',
  lostMessage:
    'the output could not be stored, because the object store of the service was unavailable for a minute; it may have been paid for',
};

/** The result of a run can't be held any longer, so the run has failed. */
export class ResultLost extends Error {
  constructor(
    message: string,
    /** The error that the run shows. */
    readonly runError: string,
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

  /** @param measureSize returns the size of the result in bytes; called once it has to wait */
  hold(runId: string, measureSize: () => number): HeldResult {
    return new HeldResult(runId, measureSize, this.#memory, this.#options);
  }
}

/** The memory that all waiting results share. */
class HeldMemory {
  #bytes = 0;

  /** Returns false if there is no room. */
  reserve(bytes: number): boolean {
    if (this.#bytes + bytes > MAX_HELD_BYTES) return false;
    this.#bytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/** A result that may have to wait until it can be stored. */
export class HeldResult {
  readonly #runId: string;
  readonly #measureSize: () => number;
  readonly #memory: HeldMemory;
  readonly #options: HeldResultsOptions;
  #waitsFor = DATABASE;
  #waitsSince: number | undefined;
  #reservedBytes = 0;
  #lossError: ResultLost | undefined;

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
   * Records why it could not be stored.
   *
   * @throws {ResultLost} if it has waited too long, or there is no room for it
   */
  recordFailure(error: unknown): void {
    if (this.#lossError) throw this.#lossError;

    const store = findUnavailableStore(error);
    if (store === undefined) return;

    this.#waitsFor = store;
    const now = this.#options.clock.now();
    if (this.#waitsSince === undefined) {
      this.#beginToWait(now);
    } else if (now - this.#waitsSince >= store.maxMs) {
      throw this.#lose(`${store.name} has been unavailable for ${store.period}`);
    }
  }

  /** Reports it as lost if it still waits when the service stops. Returns true if it did. */
  stop(): boolean {
    if (this.#waitsSince === undefined || this.#lossError) return false;
    this.#lose(`the service stopped while ${this.#waitsFor.name} was unavailable`);
    return true;
  }

  /** Releases its memory. */
  release(): void {
    this.#memory.release(this.#reservedBytes);
    this.#reservedBytes = 0;
  }

  #beginToWait(now: number): void {
    const bytes = this.#measureSize();
    if (!this.#memory.reserve(bytes)) {
      throw this.#lose(
        `${this.#waitsFor.name} is unavailable, and 256 MiB of other results are waiting`,
      );
    }

    this.#reservedBytes = bytes;
    this.#waitsSince = now;
  }

  #lose(why: string): ResultLost {
    this.release();
    this.#lossError = new ResultLost(
      `the result of run ${this.#runId} is lost, which may have been paid for: ${why}`,
      this.#waitsFor.lostMessage,
    );
    this.#options.onFault(this.#lossError);
    return this.#lossError;
  }
}

/** Returns the store that a fault concerns; undefined for a fault of another kind. */
function findUnavailableStore(error: unknown): ResultStore | undefined {
  if (error instanceof DatabaseUnavailableError) return DATABASE;
  return error instanceof ObjectStoreError ? OBJECTS : undefined;
}
