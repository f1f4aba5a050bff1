import { CompiledQuery } from 'kysely';
import type { Db, Writer } from '../queries.ts';

interface Job {
  run(db: Db): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * Writes that come in together share one transaction, and so one wait for the disk. Each is undone alone if it
 * fails; each is answered only once the transaction is on disk. A job does nothing but queries.
 */
export class GroupWriter implements Writer {
  #jobs: Job[] = [];
  #working: Promise<void> | undefined;

  constructor(readonly db: Db) {}

  write<T>(run: (db: Db) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#jobs.push({ run, resolve: value => resolve(value as T), reject });
      this.#working ??= this.#work();
    });
  }

  /** Resolves once nothing is left to write. */
  async idle(): Promise<void> {
    while (this.#working) await this.#working;
  }

  async #work(): Promise<void> {
    // Everything else that is ready in this turn of the event loop joins the batch.
    await new Promise(resolve => setImmediate(resolve));
    while (this.#jobs.length > 0) {
      const batch = this.#jobs;
      this.#jobs = [];
      await this.#commit(batch);
    }
    this.#working = undefined;
  }

  async #commit(batch: Job[]): Promise<void> {
    try {
      const answers = await this.db.transaction().execute(async db => {
        const answers: (() => void)[] = [];
        for (const job of batch) answers.push(await attempt(db, job));
        return answers;
      });
      for (const answer of answers) answer();
    } catch (error) {
      for (const job of batch) job.reject(error);
    }
  }
}

/** Runs a job so that its failure undoes nothing but its own writes; returns what answers it. */
async function attempt(db: Db, job: Job): Promise<() => void> {
  await db.executeQuery(SAVEPOINT);
  try {
    const value = await job.run(db);
    await db.executeQuery(RELEASE);
    return () => job.resolve(value);
  } catch (error) {
    await db.executeQuery(ROLLBACK);
    await db.executeQuery(RELEASE);
    return () => job.reject(error);
  }
}

const SAVEPOINT = CompiledQuery.raw('savepoint job');
const RELEASE = CompiledQuery.raw('release job');
const ROLLBACK = CompiledQuery.raw('rollback to job');
