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
import { isDamageError, openSqlite, retryWhileLocked, type SqliteDatabase } from './binding.ts';
import type { LockedWorkers } from './locked-workers.ts';
import { LogFlush } from './log-flush.ts';
import { createSchema, isForeignDatabase, migrateSqlite } from './migrate.ts';

/** Time for which a statement blocks this process while another one writes, in milliseconds. */
const STATEMENT_BUSY_TIMEOUT_MS = 100;

/**
 * Maximum size of a database, in bytes, for a full check at every start, which takes a few
 * milliseconds.
 */
const MAX_CHECKED_BYTES = 2 * 1024 * 1024;

/** The suffixes of a database's files. */
const DATABASE_FILE_SUFFIXES = ['', '-wal', '-shm'] as const;

/**
 * Opens the database in WAL mode, and creates or migrates it if necessary. Commits are durable once
 * `log` has been flushed; if there is no `log`, each commit is durable when it returns.
 * `isMigrated` is true if the database had an older schema.
 *
 * @throws {DataDirectoryError} if the file is empty, damaged or another program's /
 */
export async function connectDatabase(file: string) {
  const sizeBytes = (await readFileSize(file)) ?? (await createDatabase(file));
  if (sizeBytes === 0) throw damagedStoreError(file, 'it is empty');
  try {
    return await openCheckedDatabase(file, sizeBytes);
  } catch (error) {
    throw isDamageError(error) ? damagedStoreError(file, (error as Error).message) : error;
  }
}

async function openCheckedDatabase(file: string, sizeBytes: number) {
  const database = await openSqlite(file);
  try {
    database.exec(`pragma busy_timeout = ${STATEMENT_BUSY_TIMEOUT_MS}`);
    const isForeignFile = await retryWhileLocked(() => isForeignDatabase(database));
    if (isForeignFile) throw damagedStoreError(file, 'it is the database of another program');

    // Two processes that open a new file at once can meet a lock here despite the busy timeout.
    await retryWhileLocked(() => database.exec('pragma journal_mode = wal'));

    // On macOS, an ordinary sync leaves commits in the cache of the disk, which a power cut
    // empties.
    database.exec('pragma synchronous = full; pragma fullfsync = on; pragma foreign_keys = on');
    const isMigrated = await retryWhileLocked(() => migrateSqlite(database, file));
    if (sizeBytes <= MAX_CHECKED_BYTES) {
      await retryWhileLocked(() => checkIntegrity(database, file));
    }

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
 * Renames the database and its logs, so that a new one can be created. Returns the new path, which
 * contains the time; undefined if there is no database.
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
  const asideFile = file.replace(/\.db$/, `-aside-${time}.db`);
  for (const suffix of DATABASE_FILE_SUFFIXES) {
    await renameOver(`${file}${suffix}`, `${asideFile}${suffix}`).catch((error: unknown) => {
      if (getErrorCode(error) !== 'ENOENT') throw error;
    });
  }

  await syncDirectory(path.dirname(file));
  return asideFile;
}
