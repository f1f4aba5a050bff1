import { randomUUID } from 'node:crypto';
import { linkSync, lstatSync, readlinkSync, renameSync, rmSync, type Stats, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf } from './error-utils.ts';
import { parseJson } from './json.ts';
import { readIfReadable } from './read-text.ts';
import { checkBelow, type FileBelow, PathFault } from './write-below.ts';

/** How often the holder shows that it is alive, in milliseconds. */
const BEAT_MS = 10_000;
/** A lock of another machine that shows no life for this long is free. */
const STALE_AFTER_MS = 60_000;
/** How long to wait for other holders in all; longer than a lock takes to become stale. */
const GIVE_UP_AFTER_MS = 75_000;
/** How long the lock of a process that has just been killed may look held. */
export const DYING_MS = 1000;
/** How long a lock may stay half written; after that, its process was killed while it wrote it. */
const HALF_WRITTEN_MS = 500;
const STEP_MS = 20;
/** A lock is a line; what is larger is another file. */
const MOST_LOCK_BYTES = 64 * 1024;

/** Releases a file. */
export type Release = () => void;

/**
 * Locks a file for this process, against other machines on the same volume as well. The lock is a file beside it, which
 * a dead process leaves behind: it is free at once for its own machine, after a minute for others.
 *
 * @returns undefined if another process holds the lock
 * @throws {PathFault} and what writing the lock throws
 */
export function lockFile(
  { folder, name }: FileBelow,
  startTimeOf: StartTimeOf = startTime,
): Release | undefined {
  const lock = checkBelow({ folder, name: `${name}.lock` });
  const mine = JSON.stringify({
    ...placeOf(),
    pid: process.pid,
    began: startTimeOf(process.pid),
    id: randomUUID(),
  });
  for (let tries = 0; tries < 3; tries++) {
    if (takeLock(lock, mine)) return releaseOf(lock, mine);
    const holder = holderOf(lock);
    if (holder === mine) return releaseOf(lock, mine);
    if (holder !== undefined && !isFree(lock, holder, startTimeOf)) return undefined;
    if (holder !== undefined) breakLock(lock, holder);
  }
  return undefined;
}

/**
 * As `lockFile`, once no other process holds the lock.
 *
 * @param limitMs how long to wait, in milliseconds; by default until the lock of a dead machine is free
 * @returns undefined if another process held it for longer
 * @throws {PathFault} and what writing the lock throws
 */
export async function waitForLock(
  file: FileBelow,
  { sleep, random }: { sleep(ms: number): Promise<void>; random(): number },
  limitMs = GIVE_UP_AFTER_MS,
): Promise<Release | undefined> {
  for (let waited = 0; ; ) {
    const release = lockFile(file);
    if (release !== undefined || waited >= limitMs) return release;
    const step = STEP_MS * (1 + random());
    await sleep(step);
    waited += step;
  }
}

/** Returns the latest time, in milliseconds since 1970, at which the holder of a lock was alive if it isn't any more. */
export function lastAlive({ folder, name }: FileBelow): number {
  return (statsOf(checkBelow({ folder, name: `${name}.lock` }))?.mtimeMs ?? 0) + BEAT_MS;
}

function takeLock(lock: string, mine: string): boolean {
  try {
    writeFileSync(lock, mine, { flag: 'wx', mode: 0o600 });
    // If this process stood still before it had written the lock, another one may have it by now.
    return holderOf(lock) === mine;
  } catch (error) {
    if (codeOf(error) === 'EEXIST' || isBeingRemoved(lock, error)) return false;
    throw error;
  }
}

/** On Windows, a name is refused until everybody has closed the file of that name that was removed. */
function isBeingRemoved(lock: string, error: unknown): boolean {
  if (process.platform !== 'win32' || codeOf(error) !== 'EPERM') return false;
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

function releaseOf(lock: string, mine: string): Release {
  const beat = setInterval(() => {
    try {
      // Written again, so that its time is that of the volume's clock.
      if (holderOf(lock) === mine) writeFileSync(lock, mine, { flag: 'r+' });
    } catch {
      // Somebody removed it by hand; there is nothing left to show.
    }
  }, BEAT_MS).unref();
  return () => {
    clearInterval(beat);
    if (holderOf(lock) === mine) removeLock(lock);
  };
}

/** One that another process just reads can't be removed on Windows for a moment. */
function removeLock(lock: string): void {
  rmSync(lock, { force: true, maxRetries: 5, retryDelay: 20 });
}

/** Moves the lock aside before removing it: if another process was quicker, that one is alive and its lock is put back. */
function breakLock(lock: string, holder: string): void {
  const aside = `${lock}.${randomUUID()}`;
  try {
    renameSync(lock, aside);
    if (holderOf(aside) !== holder) linkSync(aside, lock);
  } catch {
    // Somebody else broke or took it meanwhile.
  }
  removeLock(aside);
}

function holderOf(lock: string): string | undefined {
  const stats = statsOf(lock);
  // Reading a pipe would wait for ever.
  const isLock = stats === undefined || (stats.isFile() && stats.size <= MOST_LOCK_BYTES);
  const text = isLock ? readIfReadable(lock) : undefined;
  // Another file of that name must not be broken, which removes it.
  if (!isLock || (text !== undefined && !mayBeLock(text))) throw new PathFault(`${lock} is not a lock`);
  return text;
}

/** Undefined if there is none, or it is just being removed. */
function statsOf(lock: string): Stats | undefined {
  try {
    return lstatSync(lock);
  } catch {
    return undefined;
  }
}

/** Where the system does not say when a process began, another one may have the id of the holder, which shows no life. */
function isFree(lock: string, holder: string, startTimeOf: StartTimeOf): boolean {
  const written = parsed(holder);
  if (written === undefined) return ageOf(lock) > HALF_WRITTEN_MS;
  const { host, space, pid, began } = written;
  const here = placeOf();
  if (host === here.host && space === here.space && typeof pid === 'number') {
    if (!isAlive(pid)) return true;
    if (typeof began === 'string') return startTimeOf(pid) !== began;
  }
  return ageOf(lock) > STALE_AFTER_MS;
}

/** Whether a process of this machine is running; one that can't be asked for is taken to be. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

/** By the clock of the volume, which is not always this machine's. */
function ageOf(lock: string): number {
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

/** Where process ids mean the same: a machine since it was started, or a container of it. */
function placeOf(): { host: string; space: string } {
  const bootId = readIfReadable('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
  return { host: hostname(), space: `${bootId} ${processSpace()}` };
}

function processSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** Returns when a process began, so that another one with its id is not taken for it; null if the system doesn't say. */
type StartTimeOf = (pid: number) => string | null;

function startTime(pid: number): string | null {
  const stat = readIfReadable(`/proc/${pid}/stat`) ?? '';
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}

interface Holder {
  readonly host?: unknown;
  readonly space?: unknown;
  readonly pid?: unknown;
  readonly began?: unknown;
}

/** Returns who wrote a lock; undefined if it is not written yet. */
function parsed(holder: string): Holder | undefined {
  const value = parseJson(holder);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Holder) : undefined;
}

/** What every lock begins with; a power cut may leave NULs of it. */
const BEGINNING = '{"host":';

function mayBeLock(text: string): boolean {
  return BEGINNING.startsWith(text) || text.startsWith(BEGINNING) || /^\0+$/u.test(text);
}
