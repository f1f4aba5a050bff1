import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { codeOf } from '../../files/error-utils.ts';
import { PendingWork } from '../lifecycle/background-work.ts';
import type { Tables } from './tables.ts';

/** What runs queries: the database or a transaction on it. */
export type Db = Kysely<Tables>;

/** What PostgreSQL ends a transaction with that would have worked alone: serialisation failure, deadlock. */
const COLLISIONS: readonly (string | undefined)[] = ['40001', '40P01'];
const ATTEMPTS = 10;
/** The longest pause between two attempts, in milliseconds. */
const LONGEST_PAUSE_MS = 100;

/** Runs writes, each in a transaction of its own that is on disk before it is answered. */
export class Writer {
  readonly #db: Db;
  readonly #pending = new PendingWork();

  constructor(db: Db) {
    this.#db = db;
  }

  /** `run` does nothing but queries, and is run again if it collided with another transaction. */
  write<T>(run: (db: Db) => Promise<T>): Promise<T> {
    return this.#pending.track(this.#attempt(run));
  }

  /** Resolves once nothing is left to write. */
  idle(): Promise<void> {
    return this.#pending.ended();
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
