import { randomUUID } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { DataDirectoryError } from '../../../files/data-directory.ts';
import { codeOf } from '../../../files/error-utils.ts';
import { renameOver } from '../../../files/rename.ts';
import { syncDirectory } from '../../../files/write-below.ts';
import { placeNew } from '../../../files/write-file.ts';
import type { Clock } from '../../core/clock.ts';
import { damagedStore } from '../errors.ts';
import { isDamage, openSqlite, type SqliteDatabase, whenUnlocked } from './binding.ts';
import { fill, isForeign, migrate } from './migrate.ts';
import type { LockedWorkers } from './worker-locks.ts';

/** How long a statement blocks the process while it waits for another's transaction, in milliseconds. */
const BUSY_TIMEOUT_MS = 100;
/** Databases up to this size are checked whole at every start, which takes a few milliseconds; in bytes. */
const CHECKED_SIZE = 2 * 1024 * 1024;

/**
 * Opens the database with WAL, every commit on disk before it returns, in the newest form; makes it where there is none;
 * `migrated` is whether it was of an older form before.
 *
 * @throws {DataDirectoryError} for a file that is empty, damaged or another program's
 */
export async function connect(file: string) {
  const size = (await sizeOf(file)) ?? (await makeDatabase(file));
  if (size === 0) throw damagedStore(file, 'it is empty');
  try {
    return await openWhole(file, size);
  } catch (error) {
    throw isDamage(error) ? damagedStore(file, (error as Error).message) : error;
  }
}

async function openWhole(file: string, size: number) {
  const database = await openSqlite(file);
  try {
    database.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
    const foreign = await whenUnlocked(() => isForeign(database));
    if (foreign) throw damagedStore(file, 'it is the database of another program');
    // Two processes that open a fresh file at once can meet a lock here in spite of the busy timeout.
    await whenUnlocked(() => database.exec('pragma journal_mode = wal'));
    database.exec('pragma synchronous = full; pragma foreign_keys = on');
    const migrated = await whenUnlocked(() => migrate(database, file));
    if (size <= CHECKED_SIZE) await whenUnlocked(() => check(database, file));
    return { database, migrated };
  } catch (error) {
    database.close();
    throw error;
  }
}

function check(database: SqliteDatabase, file: string): void {
  const [row] = database.prepare('pragma quick_check(1)').all() as { quick_check: string }[];
  if (row?.quick_check !== 'ok') throw damagedStore(file, row?.quick_check ?? 'it could not be checked');
}

/** The new file appears whole or not at all, so that one that is empty is known to be damaged. Gives its size. */
async function makeDatabase(file: string): Promise<number> {
  const unfinished = `${file}.${randomUUID()}.new`;
  try {
    // SQLite would make it as open as the umask allows; its -wal and -shm take over this mode.
    await (await open(unfinished, 'wx', 0o600)).close();
    const database = await openSqlite(unfinished);
    try {
      fill(database);
    } finally {
      database.close();
    }
    // Its log would be taken for the new file's.
    const hadLog = (await sizeOf(`${file}-wal`)) !== undefined;
    if (hadLog && (await sizeOf(file)) === undefined) {
      throw damagedStore(file, 'it is missing, and only its log (-wal) is there');
    }
    // Where another process was faster, its file stays.
    await placeNew(unfinished, file);
    await syncDirectory(path.dirname(file));
    return (await stat(file)).size;
  } finally {
    await rm(unfinished, { force: true });
  }
}

async function sizeOf(file: string): Promise<number | undefined> {
  return await stat(file).then(
    file => file.size,
    () => undefined,
  );
}

/** What belongs to a database beside its file. */
const SUFFIXES = ['', '-wal', '-shm'] as const;

/**
 * Renames the database and its logs, so that a new one can be begun; gives the former one's name, which says when.
 *
 * @throws {DataDirectoryError} while another process works on it
 */
export async function putStoreAside(
  file: string,
  workers: LockedWorkers,
  clock: Clock,
): Promise<string | undefined> {
  if ((await sizeOf(file)) === undefined) return undefined;
  if (await workers.others()) {
    throw new DataDirectoryError(
      `the store ${file} is in use by another process; end that one before a new store is begun`,
    );
  }
  const time = new Date(clock.now()).toISOString().replace(/[:.]/g, '-');
  const aside = file.replace(/\.db$/, `-aside-${time}.db`);
  for (const suffix of SUFFIXES) {
    await renameOver(`${file}${suffix}`, `${aside}${suffix}`).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
    });
  }
  await syncDirectory(path.dirname(file));
  return aside;
}
