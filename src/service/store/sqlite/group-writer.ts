import type { Db, Writer } from '../queries.ts';
import type { SqliteDatabase, SqliteStatement } from './binding.ts';

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

  readonly #db: Db;
  readonly #savepoint: Savepoint;

  /** @param database what `db` runs its queries on */
  constructor(db: Db, database: SqliteDatabase) {
    this.#db = db;
    this.#savepoint = savepointOf(database);
  }

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
      const answers = (await this.#together(batch)) ?? (await this.#eachUndoable(batch));
      for (const answer of answers) answer();
    } catch (error) {
      for (const job of batch) job.reject(error);
    }
  }

  /** Gives what answers the jobs, or undefined where one of several failed and so all were undone. */
  async #together(batch: Job[]): Promise<Answer[] | undefined> {
    let failed = false;
    try {
      return await this.#inTransaction(batch, async (db, job) => {
        try {
          const value = await job.run(db);
          return () => job.resolve(value);
        } catch (error) {
          failed = true;
          throw error;
        }
      });
    } catch (error) {
      if (failed && batch.length > 1) return undefined;
      throw error;
    }
  }

  /** A savepoint for each, which has SQLite copy every page that the job changes. */
  #eachUndoable(batch: Job[]): Promise<Answer[]> {
    return this.#inTransaction(batch, (db, job) => attempt(db, job, this.#savepoint));
  }

  #inTransaction(batch: Job[], carryOut: (db: Db, job: Job) => Promise<Answer>): Promise<Answer[]> {
    return this.#db.transaction().execute(async db => {
      const answers: Answer[] = [];
      for (const job of batch) answers.push(await carryOut(db, job));
      return answers;
    });
  }
}

/** Called once the transaction is on disk. */
type Answer = () => void;

/** Runs a job so that its failure undoes nothing but its own writes; returns what answers it. */
async function attempt(db: Db, job: Job, { begin, release, undo }: Savepoint): Promise<Answer> {
  begin.run();
  try {
    const value = await job.run(db);
    release.run();
    return () => job.resolve(value);
  } catch (error) {
    undo.run();
    release.run();
    return () => job.reject(error);
  }
}

/** Statements within the transaction, which holds the lock already: they need not take the way of queries. */
type Savepoint = Record<'begin' | 'release' | 'undo', SqliteStatement>;

function savepointOf(database: SqliteDatabase): Savepoint {
  return {
    begin: database.prepare('savepoint job'),
    release: database.prepare('release job'),
    undo: database.prepare('rollback to job'),
  };
}
