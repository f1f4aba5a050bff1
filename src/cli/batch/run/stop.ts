import { setMaxListeners } from 'node:events';
import type { Context } from '../../context.ts';
import { Interrupted } from '../../errors.ts';

/** Why something was not begun: no more is wanted. */
export class NoMoreWanted extends Error {
  override readonly name = 'NoMoreWanted';
}

/** Whether a batch goes on. */
export class Stop {
  readonly #reading = new AbortController();
  readonly #dropping = new AbortController();
  /** Aborted once no more rows are wanted. */
  readonly reading = this.#reading.signal;
  /** Aborted once what runs is to be let go of. */
  readonly dropping = this.#dropping.signal;
  #reason: string | undefined;
  #hasReader = true;
  #interruptedBy: 'SIGINT' | 'SIGTERM' | undefined;

  constructor() {
    setMaxListeners(0, this.reading, this.dropping);
  }

  /** Why it ended early, where it did so by itself. */
  get reason(): string | undefined {
    return this.#reason;
  }

  get interruptedBy(): 'SIGINT' | 'SIGTERM' | undefined {
    return this.#interruptedBy;
  }

  readonly isStopping = (): boolean => this.#reading.signal.aborted;

  /** Starts no more rows; those that run go on. */
  noMoreRows(reason?: string): void {
    this.#reason ??= reason;
    this.#reading.abort(new NoMoreWanted('no more rows are wanted'));
  }

  /** Whether the results are still read. */
  get hasReader(): boolean {
    return this.#hasReader;
  }

  /** The results are no longer read: what runs is dropped. */
  readerHasGone(): void {
    this.#hasReader = false;
    this.drop(new Error('nobody reads the results any more'));
  }

  /** Drops everything. */
  drop(reason: Error): void {
    this.noMoreRows();
    this.#dropping.abort(reason);
  }

  /** The first Ctrl-C starts no more rows, the second drops those that run, as the end of `--timeout` does at once. */
  listen(ctx: Context, open: { readonly openRows: number }): () => void {
    const onTimeIsUp = (): void => this.drop(ctx.signal.reason as Error);
    ctx.signal.addEventListener('abort', onTimeIsUp, { once: true });
    const release = ctx.onInterrupt(signal => {
      if (this.#interruptedBy !== undefined) {
        release();
        this.drop(new Interrupted(this.#interruptedBy));
        return;
      }
      this.#interruptedBy = signal;
      this.noMoreRows();
      ctx.io.note(
        `note: no more rows are started; ${countOf(open.openRows)} left to finish, Ctrl-C again drops them`,
      );
    });
    return () => {
      release();
      ctx.signal.removeEventListener('abort', onTimeIsUp);
    };
  }
}

function countOf(open: number): string {
  return open === 1 ? '1 that runs is' : `${open} that run are`;
}
