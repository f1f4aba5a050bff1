import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { codeOf } from '../../files/error-utils.ts';
import { PendingWork } from '../core/background-work.ts';
import type { Tables } from './tables.ts';

/** The database or a transaction on it. */
export type Db = Kysely<Tables>;

/** PostgreSQL's error codes for transactions that collided: serialisation failure, deadlock. */
const COLLISIONS: readonly (string | undefined)[] = ['40001', '40P01'];
const ATTEMPTS = 10;
/** Maximum pause between two attempts. */
const MAX_PAUSE_MS = 100;

interface Write {
  readonly run: (db: Db) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs writes in transactions; each resolves once it is on disk. SQLite runs one transaction at a time, so writes that
 * wait together share one, and with it one wait for the disk.
 */
export class Writer {
  readonly #db: Db;
  readonly #together: boolean;
  readonly #pending = new PendingWork();
  #waiting: Write[] = [];
  #isWorking = false;

  constructor(db: Db, { together }: { readonly together: boolean }) {
    this.#db = db;
    this.#together = together;
  }

  /** Runs a function in a transaction. It must only query, because it is retried after a collision. */
  write<T>(run: (db: Db) => Promise<T>): Promise<T> {
    return this.#pending.track(this.#together ? this.#join(run) : this.#attempt(run));
  }

  /** Resolves once no write is pending. */
  idle(): Promise<void> {
    return this.#pending.ended();
  }

  #join<T>(run: (db: Db) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const isFirst = this.#waiting.push({ run, resolve: value => resolve(value as T), reject }) === 1;
      // Writes of the same turn of the event loop join this transaction.
      if (isFirst && !this.#isWorking) setImmediate(() => void this.#work());
    });
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    while (this.#waiting.length > 0) await this.#commit(this.#waiting.splice(0));
    this.#isWorking = false;
  }

  async #commit(writes: readonly Write[]): Promise<void> {
    let failed = false;
    const inTurn = async (db: Db): Promise<unknown[]> => {
      const values: unknown[] = [];
      try {
        for (const { run } of writes) values.push(await run(db));
      } catch (error) {
        failed = true;
        throw error;
      }
      return values;
    };
    try {
      const values = await this.#attempt(inTurn);
      for (const [index, { resolve }] of writes.entries()) resolve(values[index]);
    } catch (error) {
      // A write that fails must not undo the others, so each gets its own transaction.
      if (failed && writes.length > 1) for (const write of writes) await this.#commit([write]);
      else for (const { reject } of writes) reject(error);
    }
  }

  async #attempt<T>(run: (db: Db) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#db.transaction().execute(run);
      } catch (error) {
        if (!COLLISIONS.includes(codeOf(error)) || attempt === ATTEMPTS) throw error;
        await sleep(Math.random() * MAX_PAUSE_MS);
      }
    }
  }
}
