import type { Db, Writer } from '../queries.ts';
import type { SqliteDatabase, SqliteStatement } from './binding.ts';

interface Job {
  run(db: Db): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** How long those who wrote last time are waited for: a part of what that transaction took, and at most so many milliseconds. */
const PATIENCE = { part: 0.25, mostMs: 5 } as const;

/**
 * Writes that come in together share one transaction, and so one wait for the disk. Each is undone alone if it
 * fails; each is answered only once the transaction is on disk. A job does nothing but queries.
 */
export class GroupWriter implements Writer {
  #jobs: Job[] = [];
  #working: Promise<void> | undefined;
  /** How many jobs the last transaction had, and how long it took. */
  #last = { jobs: 0, ms: 0 };

  readonly #db: Db;
  readonly #savepoint: Savepoint;

  /**
   * @param database what `db` runs its queries on
   * @param now milliseconds, from any beginning
   */
  constructor(
    db: Db,
    database: SqliteDatabase,
    private readonly now: () => number = () => performance.now(),
  ) {
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
    do {
      await this.#gather();
      const batch = this.#jobs;
      this.#jobs = [];
      const startedAt = this.now();
      await this.#commit(batch);
      this.#last = { jobs: batch.length, ms: this.now() - startedAt };
    } while (this.#jobs.length > 0);
    this.#working = undefined;
  }

  /** Everything that is ready in this turn of the event loop joins; so does who wrote last time, for a little while. */
  async #gather(): Promise<void> {
    const until = this.now() + Math.min(this.#last.ms * PATIENCE.part, PATIENCE.mostMs);
    do await new Promise(resolve => setImmediate(resolve));
    while (this.#jobs.length < this.#last.jobs && this.now() < until);
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
  async #together(batch: Job[]): Promise<Answers | undefined> {
    let failed = false;
    try {
      return await this.#db.transaction().execute(async db => {
        const answers: (() => void)[] = [];
        for (const job of batch) {
          const value = await job.run(db).catch((error: unknown) => {
            failed = true;
            throw error;
          });
          answers.push(() => job.resolve(value));
        }
        return answers;
      });
    } catch (error) {
      if (failed && batch.length > 1) return undefined;
      throw error;
    }
  }

  /** A savepoint for each, which has SQLite copy every page that the job changes. */
  #eachUndoable(batch: Job[]): Promise<Answers> {
    return this.#db.transaction().execute(async db => {
      const answers: (() => void)[] = [];
      for (const job of batch) answers.push(await attempt(db, job, this.#savepoint));
      return answers;
    });
  }
}

/** Called once the transaction is on disk. */
type Answers = readonly (() => void)[];

/** Runs a job so that its failure undoes nothing but its own writes; returns what answers it. */
async function attempt(db: Db, job: Job, { begin, release, undo }: Savepoint): Promise<() => void> {
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
