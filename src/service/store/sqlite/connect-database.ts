import { randomUUID } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { DataDirectoryError } from '../../../files/data-directory.ts';
import { renameOver } from '../../../files/writing/rename-over.ts';
import { syncDirectory } from '../../../files/writing/write-below.ts';
import { tryPlaceFile } from '../../../files/writing/write-file.ts';
import { getErrorCode } from '../../../utils/error-utils.ts';
import type { Clock } from '../../core/clock.ts';
import { damagedStoreError } from '../store-errors.ts';
import { isDamage, openSqlite, retryWhileLocked, type SqliteDatabase } from './binding.ts';
import { LogFlush } from './log-flush.ts';
import { createSchema, isForeign, migrateSqlite } from './migrate.ts';
import type { LockedWorkers } from './worker-locks.ts';

/** Maximum time that a statement blocks this process while it waits for another's transaction. */
const BUSY_TIMEOUT_MS = 100;

/**
 * Maximum size of a database, in bytes, for a full check at every start, which takes a few
 * milliseconds.
 */
const MAX_CHECKED_SIZE = 2 * 1024 * 1024;

/** The suffixes of a database's files. */
const DATABASE_FILE_SUFFIXES = ['', '-wal', '-shm'] as const;

/**
 * Opens the database in WAL mode; creates or migrates it if necessary. Commits are durable once
 * `log` has been flushed; without a log they are durable at once. `isMigrated` is true if it had an
 * older schema.
 *
 * @throws {DataDirectoryError} if the file is empty, damaged or another program's
 */
export async function connectDatabase(file: string) {
  const size = (await readFileSize(file)) ?? (await createDatabase(file));
  if (size === 0) throw damagedStoreError(file, 'it is empty');
  try {
    return await openCheckedDatabase(file, size);
  } catch (error) {
    throw isDamage(error) ? damagedStoreError(file, (error as Error).message) : error;
  }
}

async function openCheckedDatabase(file: string, size: number) {
  const database = await openSqlite(file);
  try {
    database.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
    const isForeignFile = await retryWhileLocked(() => isForeign(database));
    if (isForeignFile) throw damagedStoreError(file, 'it is the database of another program');

    // Two processes that open a new file at once can meet a lock here despite the busy timeout.
    await retryWhileLocked(() => database.exec('pragma journal_mode = wal'));

    // On macOS, an ordinary sync leaves commits in the cache of the disk, which a power cut
    // empties.
    database.exec('pragma synchronous = full; pragma fullfsync = on; pragma foreign_keys = on');
    const isMigrated = await retryWhileLocked(() => migrateSqlite(database, file));
    if (size <= MAX_CHECKED_SIZE) await retryWhileLocked(() => checkIntegrity(database, file));
    const log = await LogFlush.open(database);
    if (log) database.exec('pragma synchronous = normal');

    return { database, isMigrated, log };
  } catch (error) {
    database.close();
    throw error;
  }
}

function checkIntegrity(database: SqliteDatabase, file: string): void {
  const [row] = database.prepare('pragma quick_check(1)').all() as { quick_check: string }[];
  if (row?.quick_check !== 'ok') {
    throw damagedStoreError(file, row?.quick_check ?? 'it could not be checked');
  }
}

/** Creates the file atomically, so that an empty one is always a damaged one. Returns its size. */
async function createDatabase(file: string): Promise<number> {
  const tempFile = `${file}.${randomUUID()}.new`;
  try {
    // SQLite would use the umask; its -wal and -shm files inherit this mode.
    await (await open(tempFile, 'wx', 0o600)).close();
    const database = await openSqlite(tempFile);
    try {
      createSchema(database);
    } finally {
      database.close();
    }

    // SQLite would apply the log of the missing file to the new one.
    const hadLog = (await readFileSize(`${file}-wal`)) !== undefined;
    if (hadLog && (await readFileSize(file)) === undefined) {
      throw damagedStoreError(file, 'it is missing, and only its log (-wal) is there');
    }

    // If another process was faster, its file stays.
    await tryPlaceFile(tempFile, file);
    await syncDirectory(path.dirname(file));
    return (await stat(file)).size;
  } finally {
    await rm(tempFile, { force: true });
  }
}

async function readFileSize(file: string): Promise<number | undefined> {
  return await stat(file).then(
    file => file.size,
    () => undefined,
  );
}

/**
 * Renames the database and its logs, so that a new one can be created. Returns the new name, which
 * contains the time; undefined without a database.
 *
 * @throws {DataDirectoryError} if another process uses it
 */
export async function putStoreAside(
  file: string,
  workers: LockedWorkers,
  clock: Clock,
): Promise<string | undefined> {
  if ((await readFileSize(file)) === undefined) return undefined;

  if (await workers.isUsedByOthers()) {
    throw new DataDirectoryError(
      `the store ${file} is in use by another process; stop that process before you start a new store`,
    );
  }

  const time = new Date(clock.now()).toISOString().replace(/[:.]/g, '-');
  const aside = file.replace(/\.db$/, `-aside-${time}.db`);
  for (const suffix of DATABASE_FILE_SUFFIXES) {
    await renameOver(`${file}${suffix}`, `${aside}${suffix}`).catch((error: unknown) => {
      if (getErrorCode(error) !== 'ENOENT') throw error;
    });
  }

  await syncDirectory(path.dirname(file));
  return aside;
}
