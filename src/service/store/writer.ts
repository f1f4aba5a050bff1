import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { getErrorCode } from '../../utils/error-utils.ts';
import { PendingWork } from '../core/background-work.ts';
import type { Tables } from './tables.ts';

/** The database or a transaction on it. */
export type Db = Kysely<Tables>;

/** PostgreSQL's error codes for transactions that collided: serialisation failure, deadlock. */
const COLLISION_CODES: readonly (string | undefined)[] = ['40001', '40P01'];
const MAX_WRITE_ATTEMPTS = 10;

/** Maximum pause between two attempts, in milliseconds. */
const MAX_WRITE_PAUSE_MS = 100;

interface PendingWrite {
  readonly run: (db: Db) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface WriterOptions {
  /** True if writes that wait together share a transaction. */
  readonly sharesTransactions: boolean;
  /** Resolves once all commits are on disk; undefined if each commit waits for the disk itself. */
  readonly flush?: (() => Promise<void>) | undefined;
}

/**
 * Runs writes in transactions. Each resolves once it is on disk. SQLite runs one transaction at a
 * time, so writes that wait together share one, and one wait for the disk, during which the next
 * transaction is already committed.
 */
export class Writer {
  readonly #db: Db;
  readonly #sharesTransactions: boolean;
  readonly #flush: WriterOptions['flush'];
  readonly #pending = new PendingWork();
  #waitingWrites: PendingWrite[] = [];
  #isWorking = false;

  constructor(db: Db, { sharesTransactions, flush }: WriterOptions) {
    this.#db = db;
    this.#sharesTransactions = sharesTransactions;
    this.#flush = flush;
  }

  /**
   * Runs a function in a transaction. It must only query, because it is retried after a collision.
   */
  write<T>(run: (db: Db) => Promise<T>): Promise<T> {
    return this.#pending.track(this.#sharesTransactions ? this.#join(run) : this.#attempt(run));
  }

  /** Resolves once no write is pending. */
  waitForIdle(): Promise<void> {
    return this.#pending.waitForAll();
  }

  #join<T>(run: (db: Db) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const isFirst =
        this.#waitingWrites.push({ run, resolve: value => resolve(value as T), reject }) === 1;
      // Writes of the same turn of the event loop join this transaction.
      if (isFirst && !this.#isWorking) setImmediate(() => void this.#commitWaiting());
    });
  }

  async #commitWaiting(): Promise<void> {
    this.#isWorking = true;
    while (this.#waitingWrites.length > 0) await this.#commit(this.#waitingWrites.splice(0));
    this.#isWorking = false;
  }

  async #commit(writes: readonly PendingWrite[]): Promise<void> {
    let hasWriteFailed = false;

    const runInTurn = async (db: Db): Promise<unknown[]> => {
      const values: unknown[] = [];
      try {
        for (const { run } of writes) values.push(await run(db));
      } catch (error) {
        hasWriteFailed = true;
        throw error;
      }
      return values;
    };

    try {
      const values = await this.#attempt(runInTurn);
      this.#settle(writes, values);
    } catch (error) {
      // A write that fails must not undo the others, so each gets its own transaction.
      if (hasWriteFailed && writes.length > 1) {
        for (const write of writes) await this.#commit([write]);
      } else {
        for (const { reject } of writes) reject(error);
      }
    }
  }

  /** Resolves committed writes once they are on disk; rejects them if that fails. */
  #settle(writes: readonly PendingWrite[], values: readonly unknown[]): void {
    const resolve = (): void => {
      for (const [index, write] of writes.entries()) write.resolve(values[index]);
    };
    const reject = (error: unknown): void => {
      for (const write of writes) write.reject(error);
    };
    if (this.#flush) {
      this.#flush().then(resolve, reject);
    } else {
      resolve();
    }
  }

  async #attempt<T>(run: (db: Db) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#db.transaction().execute(run);
      } catch (error) {
        if (!COLLISION_CODES.includes(getErrorCode(error)) || attempt === MAX_WRITE_ATTEMPTS) {
          throw error;
        }
        await sleep(Math.random() * MAX_WRITE_PAUSE_MS);
      }
    }
  }
}
