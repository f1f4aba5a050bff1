import type { Clock } from '../core/clock.ts';
import { DatabaseUnavailableError } from '../store/errors.ts';

/** Maximum time that a result waits for the database, in milliseconds, and maximum size of all waiting results, in bytes. */
const MAX_HELD_MS = 10 * 60_000;
const MAX_HELD_BYTES = 256 * 1024 * 1024;

/** The error of a run whose answer is lost. */
export const RESULT_LOST =
  'the answer came while the database of the service was away, and could not be kept; it may have been paid for';

/** The result of a run can't be held any longer, so the run has failed. */
export class ResultLost extends Error {}

/** A result that waits to be stored. */
export interface HeldResult {
  /**
   * Records why it could not be stored.
   *
   * @throws {ResultLost} if it has waited too long, or there is no room for it
   */
  check(error: unknown): void;
  /** Releases its room. */
  release(): void;
}

/** Limits the results that wait in memory until the database is back. */
export class HeldResults {
  readonly #clock: Clock;
  readonly #onFault: (error: unknown) => void;
  #bytes = 0;

  /** @param options.onFault called once for each lost result */
  constructor({ clock, onFault }: { clock: Clock; onFault: (error: unknown) => void }) {
    this.#clock = clock;
    this.#onFault = onFault;
  }

  /** @param sizeOf returns the size of the result in bytes; called once it has to wait */
  hold(runId: string, sizeOf: () => number): HeldResult {
    let since: number | undefined;
    let counted = 0;
    let lost: ResultLost | undefined;
    const release = (): void => {
      this.#bytes -= counted;
      counted = 0;
    };
    const lose = (why: string): ResultLost => {
      release();
      lost = new ResultLost(`the result of run ${runId} is lost, which may have been paid for: ${why}`);
      this.#onFault(lost);
      return lost;
    };
    return {
      check: error => {
        if (lost) throw lost;
        if (!(error instanceof DatabaseUnavailableError)) return;
        const now = this.#clock.now();
        if (since === undefined) {
          const bytes = sizeOf();
          if (this.#bytes + bytes > MAX_HELD_BYTES) {
            throw lose('the database is away, and 256 MiB of other results wait for it');
          }
          since = now;
          counted = bytes;
          this.#bytes += bytes;
        } else if (now - since >= MAX_HELD_MS) {
          throw lose('the database has been away for 10 minutes');
        }
      },
      release,
    };
  }
}
