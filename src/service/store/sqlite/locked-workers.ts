import { randomUUID } from 'node:crypto';
import { access, open, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory } from '../../../files/writing/write-below.ts';
import { getErrorCode } from '../../../utils/error-utils.ts';
import type { Clock } from '../../core/clock.ts';
import { listWrittenBefore } from '../blobs/blob-files.ts';
import type { WorkerKind } from '../store.ts';
import { isBusyError, openSqlite, retryWhileLocked, type SqliteDatabase } from './binding.ts';

/** The workers of an SQLite store. */
export type LockedWorkers = ReturnType<typeof createLockedWorkers>;

const LOCK_FOLDER = 'workers';
const LOCK_SUFFIX = '.lock';

/** Prefix of the worker ids of commands. */
const COMMAND_PREFIX = 'command-';

/** Age below which a lock file is kept, in milliseconds: its worker may not have locked it yet. */
const MIN_DEAD_LOCK_AGE_MS = 60_000;

/**
 * Returns workers that are known to be alive by their locks: each locks its own file, and the
 * operating system releases the lock however the process ends.
 */
export function createLockedWorkers(dataDir: string, kind: WorkerKind, clock: Clock) {
  const directory = path.join(dataDir, LOCK_FOLDER);
  const toLockPath = (worker: string): string => path.join(directory, `${worker}${LOCK_SUFFIX}`);
  const workerId = `${kind === 'command' ? COMMAND_PREFIX : ''}${randomUUID()}`;
  let lock: Promise<SqliteDatabase> | undefined;

  return {
    async register() {
      lock ??= takeWorkerLock(toLockPath(workerId)).catch((error: unknown) => {
        lock = undefined;
        throw error;
      });
      await lock;
      return workerId;
    },
    getWorkerKind: (worker: string): WorkerKind =>
      worker.startsWith(COMMAND_PREFIX) ? 'command' : 'serve',
    isAlive: async (worker: string) => worker === workerId || (await isLocked(toLockPath(worker))),
    /** Returns true if another process uses the store. */
    isUsedByOthers: () => isStoreInUse(dataDir, toLockPath(workerId)),
    async removeDead() {
      for (const lockName of await listWrittenBefore(
        directory,
        clock.now() - MIN_DEAD_LOCK_AGE_MS,
      )) {
        const file = path.join(directory, lockName);
        if (isLockName(lockName) && file !== toLockPath(workerId) && !(await isLocked(file))) {
          await removeIfClosed(file);
        }
      }
    },
    async release() {
      if (!lock) return;
      (await lock).close();
      lock = undefined;
      await removeIfClosed(toLockPath(workerId));
    },
  };
}

/**
 * Returns true if a process uses the store in a data directory.
 *
 * @param ownLock the lock of this process, which doesn't count
 */
export async function isStoreInUse(dataDir: string, ownLock?: string): Promise<boolean> {
  for (const file of await listLockFiles(path.join(dataDir, LOCK_FOLDER))) {
    if (file !== ownLock && (await isLocked(file))) return true;
  }
  return false;
}

async function takeWorkerLock(file: string): Promise<SqliteDatabase> {
  makeDirectory(path.dirname(file), 0o700);
  await (await open(file, 'a', 0o600)).close();
  const database = await openSqlite(file);
  // A process that checks if this one is alive holds the lock briefly.
  await retryWhileLocked(() => database.exec('begin exclusive'));
  return database;
}

/**
 * Returns true if a worker holds the lock. Only SQLite may open the file: closing any other handle
 * would release our lock.
 */
async function isLocked(file: string): Promise<boolean> {
  if (!(await exists(file))) return false;
  const database = await openSqlite(file);
  try {
    database.exec('begin exclusive');
    return false;
  } catch (error) {
    if (isBusyError(error)) return true;
    throw error;
  } finally {
    database.close();
  }
}

/** Removes a lock file. On Windows, one that another process has open is removed later. */
async function removeIfClosed(file: string): Promise<void> {
  await rm(file, { force: true }).catch((error: unknown) => {
    if (getErrorCode(error) !== 'EBUSY') throw error;
  });
}

async function exists(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  );
}

async function listLockFiles(directory: string): Promise<string[]> {
  if (!(await exists(directory))) return [];
  const names = await readdir(directory);
  return names.filter(isLockName).map(name => path.join(directory, name));
}

function isLockName(name: string): boolean {
  return name.endsWith(LOCK_SUFFIX);
}
