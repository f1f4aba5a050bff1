import { DataDirectoryError } from '../../../files/data-directory.ts';
import { buildMigrations } from '../migrations.ts';
import type { SqliteDatabase } from './binding.ts';

/**
 * Statistics for the query planner, which would otherwise read all runs of a user to find a rare
 * status.
 */
const STATISTICS = `
  analyze;
  insert into sqlite_stat1 (tbl, idx, stat) values
    ('runs', 'runsByTime', '1000000 100000 1'),
    ('runs', 'runsByStatus', '1000000 100000 1000 1');
  analyze sqlite_schema;`;

const SQLITE_MIGRATIONS = buildMigrations({
  serialKeyType: 'integer primary key',
  clusteredByKey: 'without rowid',
  extraStatements: STATISTICS,
});

/**
 * Migrates the database to the newest schema, after any other process that does the same.
 *
 * @returns true if it had an older schema; false if it was new or current
 * @throws {DataDirectoryError} if a newer version of promptrun wrote it
 */
export function migrateSqlite(database: SqliteDatabase, file: string): boolean {
  if (readSchemaVersion(database) === SQLITE_MIGRATIONS.length) return false;
  return runInTransaction(database, () => {
    const version = readSchemaVersion(database);
    if (version > SQLITE_MIGRATIONS.length) throw new DataDirectoryError(explainTooNew(file));
    applySteps(database, version);
    return version > 0 && version < SQLITE_MIGRATIONS.length;
  });
}

/**
 * Creates the schema in a new database without reading it. A statement that is not yet
 * garbage-collected keeps the file open after the database is closed, and Windows can't delete an
 * open file.
 */
export function createSchema(database: SqliteDatabase): void {
  runInTransaction(database, () => applySteps(database, 0));
}

function applySteps(database: SqliteDatabase, version: number): void {
  for (const step of SQLITE_MIGRATIONS.slice(version)) database.exec(step);
  database.exec(`pragma user_version = ${SQLITE_MIGRATIONS.length}`);
}

function runInTransaction<T>(database: SqliteDatabase, work: () => T): T {
  database.exec('begin immediate');
  try {
    const result = work();
    database.exec('commit');
    return result;
  } catch (error) {
    try {
      database.exec('rollback');
    } catch {
      // A full disk has already ended the transaction.
    }
    throw error;
  }
}

/** Returns true if the file has tables, but not one that every version of the store has. */
export function isForeignDatabase(database: SqliteDatabase): boolean {
  const names = database.prepare("select name from sqlite_schema where type = 'table'").all() as {
    name: string;
  }[];
  return names.length > 0 && !names.some(({ name }) => name === 'promptVersions');
}

function readSchemaVersion(database: SqliteDatabase): number {
  const [row] = database.prepare('pragma user_version').all() as { user_version: number }[];
  return row?.user_version ?? 0;
}

function explainTooNew(file: string): string {
  return `${file} was written by a newer promptrun; update promptrun, or set PROMPTRUN_DATA_DIR to another directory`;
}
