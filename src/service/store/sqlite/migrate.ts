import { DataDirectoryError } from '../../../files/data-directory.ts';
import { migrations } from '../migrations.ts';
import type { SqliteDatabase } from './binding.ts';

/** What the planner is to reckon with: without it, it reads a user's every run to find those of a rare status. */
const STATISTICS = `
  analyze;
  insert into sqlite_stat1 (tbl, idx, stat) values
    ('runs', 'runsByTime', '1000000 100000 1'),
    ('runs', 'runsByStatus', '1000000 100000 1000 1');
  analyze sqlite_schema;`;

const STEPS = migrations({ counter: 'integer primary key', byKey: 'without rowid', own: STATISTICS });

/**
 * Brings the database to the newest form; another process that does the same at once is waited for.
 *
 * @returns whether it was of an older form, not new
 * @throws {DataDirectoryError} for one that a newer version of this program made
 */
export function migrate(database: SqliteDatabase, file: string): boolean {
  if (versionOf(database) === STEPS.length) return false;
  return inTransaction(database, () => {
    const version = versionOf(database);
    if (version > STEPS.length) throw new DataDirectoryError(tooNew(file));
    takeSteps(database, version);
    return version > 0 && version < STEPS.length;
  });
}

/**
 * Fills a new database. It reads nothing: a statement that is not garbage yet keeps the file open after the database is
 * closed, and Windows removes no open file.
 */
export function fill(database: SqliteDatabase): void {
  inTransaction(database, () => takeSteps(database, 0));
}

function takeSteps(database: SqliteDatabase, version: number): void {
  for (const step of STEPS.slice(version)) database.exec(step);
  database.exec(`pragma user_version = ${STEPS.length}`);
}

function inTransaction<T>(database: SqliteDatabase, work: () => T): T {
  database.exec('begin immediate');
  try {
    const result = work();
    database.exec('commit');
    return result;
  } catch (error) {
    try {
      database.exec('rollback');
    } catch {
      // A full disk ends the transaction by itself.
    }
    throw error;
  }
}

/** Whether the file holds tables, but not those that every version of the store had. */
export function isForeign(database: SqliteDatabase): boolean {
  const names = database.prepare("select name from sqlite_schema where type = 'table'").all() as {
    name: string;
  }[];
  return names.length > 0 && !names.some(({ name }) => name === 'promptVersions');
}

function versionOf(database: SqliteDatabase): number {
  const [row] = database.prepare('pragma user_version').all() as { user_version: number }[];
  return row?.user_version ?? 0;
}

function tooNew(file: string): string {
  return `${file} was written by a newer promptrun; update promptrun, or set PROMPTRUN_DATA_DIR to another directory`;
}
