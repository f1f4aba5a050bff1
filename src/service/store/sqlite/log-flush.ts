import { type FileHandle, open } from 'node:fs/promises';
import { flushData } from '../../../files/writing/write-below.ts';
import { retryWhileLocked, type SqliteDatabase } from './binding.ts';

const SELECT_LOG = `
  select journal_mode as mode, file
  from pragma_journal_mode, pragma_database_list
  where name = 'main'
`;

interface Log {
  readonly mode: string;
  /** The path of the database, without links. */
  readonly file: string;
}

/**
 * Flushes the log that SQLite commits to, in a separate thread, so that this process continues
 * while the disk works. SQLite itself would keep the process waiting for each commit.
 */
export class LogFlush {
  readonly #log: FileHandle;
  #nextFlush: Promise<void> | undefined;
  #lastFlush: Promise<void> = Promise.resolve();

  private constructor(log: FileHandle) {
    this.#log = log;
  }

  /** Opens the log of a database; undefined if it has none, or if the log can't be opened. */
  static async open(database: SqliteDatabase): Promise<LogFlush | undefined> {
    const [{ mode, file }] = await retryWhileLocked(
      () => database.prepare(SELECT_LOG).all() as [Log],
    );
    // Some file systems can't share memory, so SQLite keeps no log there.
    if (mode !== 'wal') return undefined;
    // Windows flushes only what may be written.
    const log = await open(`${file}-wal`, 'r+').catch(() => undefined);
    return log && new LogFlush(log);
  }

  /**
   * Resolves once everything that was committed before the call is on disk. Calls that wait
   * together share a flush.
   */
  flush(): Promise<void> {
    // A flush that has begun may miss the latest commit.
    this.#nextFlush ??= this.#lastFlush.then(() => {
      this.#nextFlush = undefined;
      return flushData(this.#log);
    });
    this.#lastFlush = this.#nextFlush.catch(() => {});
    return this.#nextFlush;
  }

  /** Closes the log, but not the database. */
  async close(): Promise<void> {
    await this.#lastFlush;
    await this.#log.close();
  }
}
