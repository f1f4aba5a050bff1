import type { Clock } from '../core/clock.ts';
import { DatabaseUnavailableError, ObjectStoreError } from '../store/store-errors.ts';

/** Maximum size of all waiting results, in bytes. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;

/** Maximum time that a result waits for what stores it, in milliseconds, and the error of its run if it is lost. */
const DATABASE = {
  name: 'the database',
  maxMs: 10 * 60_000,
  period: '10 minutes',
  lost: 'the answer could not be stored, because the database of the service was unavailable; it may have been paid for',
};
const OBJECTS: typeof DATABASE = {
  name: 'the object store',
  maxMs: 60_000,
  period: 'a minute',
  lost: 'the output could not be stored, because the object store of the service was unavailable for a minute; it may have been paid for',
};

/** The result of a run can't be held any longer, so the run has failed. */
export class ResultLost extends Error {
  constructor(
    message: string,
    /** The error that the run shows. */
    readonly shown: string,
  ) {
    super(message);
  }
}

/** A result that waits to be stored. */
export interface HeldResult {
  /**
   * Records why it could not be stored.
   *
   * @throws {ResultLost} if it has waited too long, or there is no room for it
   */
  check(error: unknown): void;
  /** Reports it as lost if it still waits when the service stops. Returns true if it did. */
  stop(): boolean;
  /** Releases its room. */
  release(): void;
}

/** Limits the results that wait in memory until the database or the object store is back. */
export class HeldResults {
  readonly #clock: Clock;
  readonly #onFault: (error: unknown) => void;
  #bytes = 0;

  /** @param options.onFault called once for each lost result */
  constructor({ clock, onFault }: { clock: Clock; onFault: (error: unknown) => void }) {
    this.#clock = clock;
    this.#onFault = onFault;
  }

  /** @param measureSize returns the size of the result in bytes; called once it has to wait */
  hold(runId: string, measureSize: () => number): HeldResult {
    let since: number | undefined;
    let awaited = DATABASE;
    let counted = 0;
    let lost: ResultLost | undefined;
    const release = (): void => {
      this.#bytes -= counted;
      counted = 0;
    };
    const lose = (why: string, shown: string): ResultLost => {
      release();
      lost = new ResultLost(
        `the result of run ${runId} is lost, which may have been paid for: ${why}`,
        shown,
      );
      this.#onFault(lost);
      return lost;
    };
    return {
      check: error => {
        if (lost) throw lost;
        const keeper = findUnavailableStore(error);
        if (keeper === undefined) return;
        awaited = keeper;
        const now = this.#clock.now();
        if (since === undefined) {
          const bytes = measureSize();
          if (this.#bytes + bytes > MAX_HELD_BYTES) {
            throw lose(
              `${keeper.name} is unavailable, and 256 MiB of other results are waiting`,
              keeper.lost,
            );
          }
          since = now;
          counted = bytes;
          this.#bytes += bytes;
        } else if (now - since >= keeper.maxMs) {
          throw lose(`${keeper.name} has been unavailable for ${keeper.period}`, keeper.lost);
        }
      },
      stop: () => {
        if (since === undefined || lost) return false;
        lose(`the service stopped while ${awaited.name} was unavailable`, awaited.lost);
        return true;
      },
      release,
    };
  }
}

/** Returns the store that a fault concerns; undefined for a fault of another kind. */
function findUnavailableStore(error: unknown): typeof DATABASE | undefined {
  if (error instanceof DatabaseUnavailableError) return DATABASE;
  return error instanceof ObjectStoreError ? OBJECTS : undefined;
}
