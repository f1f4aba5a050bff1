import { randomUUID } from 'node:crypto';
import {
  linkSync,
  lstatSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { getErrorCode } from '../../utils/error-utils.ts';
import { parseJson } from '../formats/json.ts';
import { readIfReadable } from '../read-text.ts';
import { type ContainedPath, PathFault, resolveContainedPath } from './write-below.ts';

/** Interval at which the holder renews the lock, in milliseconds. */
const HEARTBEAT_MS = 10_000;

/** Time without renewal after which a lock of another machine is free, in milliseconds. */
const STALE_AFTER_MS = 60_000;

/** Maximum time to wait for a lock, in milliseconds; longer than STALE_AFTER_MS. */
const LOCK_TIMEOUT_MS = 75_000;

/** Time for which the lock of a killed process may still look held, in milliseconds. */
export const DEATH_DELAY_MS = 1000;

/** Age at which an incomplete lock counts as that of a killed process, in milliseconds. */
const INCOMPLETE_LOCK_MS = 500;
const LOCK_PAUSE_MS = 20;

/** Attempts to take a lock, which other processes may break or take meanwhile. */
const MAX_LOCK_TRIES = 3;

/** Indices in the list of `readProcessStat`, which begins with the third field of proc_pid_stat(5). */
const STATE_INDEX = 0;
const THREAD_COUNT_INDEX = 17;
const START_TIME_INDEX = 19;

/** Maximum size of a lock, in bytes; a larger file is not one. */
const MAX_LOCK_BYTES = 64 * 1024;

/** The beginning of every lock; after a power cut it may consist of NULs. */
const LOCK_BEGINNING = '{"host":';

/** The process that holds a lock, as the lock names it. */
interface LockHolder {
  readonly host?: unknown;
  /** The namespace of process ids on this host. */
  readonly space?: unknown;
  readonly pid?: unknown;
  /** The start time of the process; null if the system doesn't report it. */
  readonly began?: unknown;
}

/**
 * Returns the start time of a process, to recognise a reused id; null if the system doesn't report
 * it.
 */
type ReadStartTime = (pid: number) => string | null;

/** Releases a lock. */
export type Release = () => void;

/**
 * Locks a file for this process, also against other machines on the same volume. The lock is a file
 * next to it. If its process dies, the lock is free at once on the same machine, and after a minute
 * on others.
 *
 * @returns undefined if another process holds the lock
 * @throws {PathFault} or file system errors
 */
export function lockFile(
  { folder, name }: ContainedPath,
  readStartTime: ReadStartTime = readProcessStart,
): Release | undefined {
  const lock = resolveContainedPath({ folder, name: `${name}.lock` });
  const ownContent = JSON.stringify({
    ...readPidNamespace(),
    pid: process.pid,
    began: readStartTime(process.pid),
    id: randomUUID(),
  });

  for (let tries = 0; tries < MAX_LOCK_TRIES; tries += 1) {
    if (tryTakeLock(lock, ownContent)) return createRelease(lock, ownContent);
    const content = readLock(lock);
    if (content === ownContent) return createRelease(lock, ownContent);
    if (content !== undefined && !isAbandoned(lock, content, readStartTime)) return undefined;
    if (content !== undefined) breakLock(lock, content);
  }

  return undefined;
}

/**
 * Waits until no other process holds the lock, then locks the file like `lockFile`.
 *
 * @param timeoutMs maximum time to wait, in milliseconds; default until the lock of a dead machine is
 * free
 * @returns undefined if another process held it for longer
 * @throws {PathFault} or file system errors
 */
export async function waitForLock(
  file: ContainedPath,
  { sleep, random }: { sleep(ms: number): Promise<void>; random(): number },
  timeoutMs = LOCK_TIMEOUT_MS,
): Promise<Release | undefined> {
  for (let waitedMs = 0; ; ) {
    const release = lockFile(file);
    if (release !== undefined || waitedMs >= timeoutMs) return release;
    const pauseMs = LOCK_PAUSE_MS * (1 + random());
    await sleep(pauseMs);
    waitedMs += pauseMs;
  }
}

/**
 * Returns the latest time at which a dead holder can have been alive, in milliseconds since 1970.
 */
export function getLastAliveTime({ folder, name }: ContainedPath): number {
  return (
    (readLockStats(resolveContainedPath({ folder, name: `${name}.lock` }))?.mtimeMs ?? 0) +
    HEARTBEAT_MS
  );
}

function tryTakeLock(lock: string, ownContent: string): boolean {
  try {
    writeFileSync(lock, ownContent, { flag: 'wx', mode: 0o600 });
    // If this process was suspended before the write, another one may have the lock by now.
    return readLock(lock) === ownContent;
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST' || isBeingRemoved(lock, error)) return false;
    throw error;
  }
}

/** Returns true if Windows refuses the name because a removed file is still open somewhere. */
function isBeingRemoved(lock: string, error: unknown): boolean {
  if (process.platform !== 'win32' || getErrorCode(error) !== 'EPERM') return false;
  const probe = `${lock}.${randomUUID()}`;
  try {
    writeFileSync(probe, '', { flag: 'wx' });
    return true;
  } catch {
    return false;
  } finally {
    removeLock(probe);
  }
}

function createRelease(lock: string, ownContent: string): Release {
  const heartbeat = setInterval(() => {
    try {
      // A rewrite sets the modification time by the volume's clock.
      if (readLock(lock) === ownContent) writeFileSync(lock, ownContent, { flag: 'r+' });
    } catch {
      // The lock was removed by hand.
    }
  }, HEARTBEAT_MS).unref();
  return () => {
    clearInterval(heartbeat);
    if (readLock(lock) === ownContent) removeLock(lock);
  };
}

/**
 * Removes a lock. Retries, because Windows does not remove a file while another process reads it.
 */
function removeLock(lock: string): void {
  rmSync(lock, { force: true, maxRetries: 5, retryDelay: 20 });
}

/**
 * Removes a dead lock. Moves it aside first, to put it back if another process has just replaced
 * it.
 */
function breakLock(lock: string, content: string): void {
  const movedLock = `${lock}.${randomUUID()}`;
  try {
    renameSync(lock, movedLock);
    if (readLock(movedLock) !== content) linkSync(movedLock, lock);
  } catch {
    // Another process broke or took it meanwhile.
  }
  removeLock(movedLock);
}

function readLock(lock: string): string | undefined {
  const stats = readLockStats(lock);

  // Reading a pipe would block forever.
  const isLock = stats === undefined || (stats.isFile() && stats.size <= MAX_LOCK_BYTES);
  const text = isLock ? readIfReadable(lock) : undefined;

  // Breaking a lock removes it, so another file of that name must be left alone.
  if (!isLock || (text !== undefined && !mayBeLock(text))) {
    throw new PathFault(`${lock} is not a lock`);
  }

  return text;
}

/** Returns the stats of a lock; undefined if there is none, or it is being removed. */
function readLockStats(lock: string): Stats | undefined {
  try {
    return lstatSync(lock);
  } catch {
    return undefined;
  }
}

/**
 * Returns true if the holder is dead. A reused process id is recognised by its start time, else by
 * the lock's age.
 */
function isAbandoned(lock: string, content: string, readStartTime: ReadStartTime): boolean {
  const holder = parseHolder(content);
  if (holder === undefined) return measureLockAge(lock) > INCOMPLETE_LOCK_MS;

  const { host, space, pid, began } = holder;
  const ownNamespace = readPidNamespace();
  if (host === ownNamespace.host && space === ownNamespace.space && typeof pid === 'number') {
    if (!isAlive(pid)) return true;
    if (typeof began === 'string') return readStartTime(pid) !== began;
  }

  return measureLockAge(lock) > STALE_AFTER_MS;
}

/** Returns true if a process of this machine is running, or can't be checked. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return getErrorCode(error) !== 'ESRCH';
  }
}

/** Returns the age of a lock by the volume's clock, which may differ from this machine's. */
function measureLockAge(lock: string): number {
  const probe = `${lock}.${randomUUID()}`;
  try {
    writeFileSync(probe, '', { flag: 'wx' });
    return lstatSync(probe).mtimeMs - lstatSync(lock).mtimeMs;
  } catch {
    return 0;
  } finally {
    removeLock(probe);
  }
}

/** Returns the namespace of process ids: this boot of the machine, or a container on it. */
function readPidNamespace(): { host: string; space: string } {
  const bootId = readIfReadable('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
  return { host: hostname(), space: `${bootId} ${readLinuxPidNamespace()}` };
}

function readLinuxPidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

function readProcessStart(pid: number): string | null {
  return readProcessStat(pid)[START_TIME_INDEX] ?? null;
}

/**
 * Returns true if a process has ended, but its parent has not collected its exit status, as a
 * container's first process may never do. While its other threads end, which may still write, it is
 * not a zombie.
 */
function isZombie(pid: number): boolean {
  const stat = readProcessStat(pid);
  return stat[STATE_INDEX] === 'Z' && Number(stat[THREAD_COUNT_INDEX]) <= 1;
}

/**
 * Reads the facts about a process from its state on; none if the system doesn't report them.
 *
 * @see https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
 */
function readProcessStat(pid: number): readonly string[] {
  const stat = readIfReadable(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
}

/** Parses the content of a lock; undefined if it is incomplete. */
function parseHolder(content: string): LockHolder | undefined {
  const value = parseJson(content);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as LockHolder)
    : undefined;
}

function mayBeLock(text: string): boolean {
  return LOCK_BEGINNING.startsWith(text) || text.startsWith(LOCK_BEGINNING) || /^\0+$/u.test(text);
}
