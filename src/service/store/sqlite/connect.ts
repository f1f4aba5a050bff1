import type { Clock } from '../../clock.ts';
import { openSqlite, SQLITE_BUSY, type SqliteDatabase, sqliteCode } from './binding.ts';
import { migrate } from './migrations.ts';

/** How long a statement waits for another process's transaction, in milliseconds. */
const BUSY_TIMEOUT_MS = 10_000;
const WAL_ATTEMPTS = 200;
const WAL_RETRY_MS = 25;

/** Opens the database with WAL, every commit on disk before it returns, in the newest form. */
export async function connect(file: string, clock: Clock): Promise<SqliteDatabase> {
  const database = await openSqlite(file);
  try {
    database.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
    await turnOnWal(database, clock);
    database.exec('pragma synchronous = full; pragma foreign_keys = on; pragma cache_size = -16000');
    migrate(database, file);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Two processes that open a fresh file at once can meet "database is locked" here in spite of the busy timeout. */
async function turnOnWal(database: SqliteDatabase, clock: Clock): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      database.exec('pragma journal_mode = wal');
      return;
    } catch (error) {
      if (sqliteCode(error) !== SQLITE_BUSY || attempt === WAL_ATTEMPTS) throw error;
      await clock.sleep(WAL_RETRY_MS);
    }
  }
}
