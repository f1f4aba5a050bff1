import { randomUUID } from 'node:crypto';
import { access, open, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from '../../../files/error-utils.ts';
import { makeDirectory } from '../../../files/write-below.ts';
import type { Clock } from '../../core/clock.ts';
import { writtenBefore } from '../blob-files.ts';
import type { WorkerKind } from '../store.ts';
import { isBusy, openSqlite, type SqliteDatabase, whenUnlocked } from './binding.ts';

/** Workers of a store that is a file. */
export type LockedWorkers = ReturnType<typeof workerLocks>;

const SUFFIX = '.lock';
/** What the names of commands begin with. */
const COMMAND = 'command-';
/** Long enough for a worker to lock the file it has just made, in milliseconds. */
const FRESH_MS = 60_000;

/**
 * Workers as locks, without process ids: each holds one on a file of its own, which the operating system lets go of
 * however the process ends.
 */
export function workerLocks(dataDir: string, kind: WorkerKind, clock: Clock) {
  const directory = path.join(dataDir, 'workers');
  const fileOf = (worker: string): string => path.join(directory, `${worker}${SUFFIX}`);
  const name = `${kind === 'command' ? COMMAND : ''}${randomUUID()}`;
  let lock: Promise<SqliteDatabase> | undefined;

  return {
    async register() {
      lock ??= takeLock(fileOf(name)).catch((error: unknown) => {
        lock = undefined;
        throw error;
      });
      await lock;
      return name;
    },
    kindOf: (worker: string): WorkerKind => (worker.startsWith(COMMAND) ? 'command' : 'serve'),
    isAlive: async (worker: string) => worker === name || (await isLocked(fileOf(worker))),
    /** Whether any process but this one works on the store. */
    async others() {
      for (const file of await lockFiles(directory)) {
        if (file !== fileOf(name) && (await isLocked(file))) return true;
      }
      return false;
    },
    async sweep() {
      for (const old of await writtenBefore(directory, clock.now() - FRESH_MS)) {
        const file = path.join(directory, old);
        if (isLock(old) && file !== fileOf(name) && !(await isLocked(file))) await removeIfClosed(file);
      }
    },
    async release() {
      if (!lock) return;
      (await lock).close();
      lock = undefined;
      await removeIfClosed(fileOf(name));
    },
  };
}

async function takeLock(file: string): Promise<SqliteDatabase> {
  makeDirectory(path.dirname(file), 0o700);
  await (await open(file, 'a', 0o600)).close();
  const database = await openSqlite(file);
  // A process that checks whether this one is alive holds the lock for a short time.
  await whenUnlocked(() => database.exec('begin exclusive'));
  return database;
}

/** Only SQLite may open the file: closing any other handle on it would let go of this process's own lock. */
async function isLocked(file: string): Promise<boolean> {
  if (!(await exists(file))) return false;
  const database = await openSqlite(file);
  try {
    database.exec('begin exclusive');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    database.close();
  }
}

/** Windows removes no file that another process has open, if only to see whether this one is alive: a later sweep does. */
async function removeIfClosed(file: string): Promise<void> {
  await rm(file, { force: true }).catch((error: unknown) => {
    if (codeOf(error) !== 'EBUSY') throw error;
  });
}

async function exists(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  );
}

async function lockFiles(directory: string): Promise<string[]> {
  if (!(await exists(directory))) return [];
  const names = await readdir(directory);
  return names.filter(isLock).map(name => path.join(directory, name));
}

function isLock(name: string): boolean {
  return name.endsWith(SUFFIX);
}
