import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { codeOf } from '../../files/error-utils.ts';
import { PendingWork } from '../core/background-work.ts';
import type { Tables } from './tables.ts';

/** What runs queries: the database or a transaction on it. */
export type Db = Kysely<Tables>;

/** What PostgreSQL ends a transaction with that would have worked alone: serialisation failure, deadlock. */
const COLLISIONS: readonly (string | undefined)[] = ['40001', '40P01'];
const ATTEMPTS = 10;
/** The longest pause between two attempts, in milliseconds. */
const LONGEST_PAUSE_MS = 100;

interface Write {
  readonly run: (db: Db) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs writes in transactions; each is on disk before it is answered. In SQLite, which takes one transaction at a time,
 * those that wait together share one, and so one wait for the disk.
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

  /** `run` does nothing but queries, and is run again if it collided with another transaction. */
  write<T>(run: (db: Db) => Promise<T>): Promise<T> {
    return this.#pending.track(this.#together ? this.#join(run) : this.#attempt(run));
  }

  /** Resolves once nothing is left to write. */
  idle(): Promise<void> {
    return this.#pending.ended();
  }

  #join<T>(run: (db: Db) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const isFirst = this.#waiting.push({ run, resolve: value => resolve(value as T), reject }) === 1;
      // Whatever else is ready in this turn of the event loop joins.
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
      for (const [at, { resolve }] of writes.entries()) resolve(values[at]);
    } catch (error) {
      // One that fails undoes nothing but itself.
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
        await sleep(Math.random() * LONGEST_PAUSE_MS);
      }
    }
  }
}
