import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { codeOf } from '../core/error-utils.ts';
import { makeDirectory } from '../core/make-directory.ts';
import { uniqueId } from '../core/sha256.ts';
import type { Clock } from '../core/types.ts';
import { configError } from '../errors.ts';
import { inaccessible } from './json-file.ts';

/** A lock that did not change for this long belongs to a process that died: it is held for milliseconds. */
const STALE_AFTER_MS = 5000;
/** How long to wait for others in all. */
const GIVE_UP_AFTER_MS = 30_000;
const STEP_MS = 20;

/**
 * Does `work` while no other process does any for the same file. The lock is a file beside it.
 *
 * @throws {CliError} CONFIG_ERROR if the lock can't be made, or others hold it too long
 */
export async function withLock<T>(
  file: string,
  clock: Pick<Clock, 'sleep' | 'random'>,
  work: () => T,
): Promise<T> {
  const lock = `${file}.lock`;
  makePrivate(path.dirname(file));
  const mine = `${hostname()} ${process.pid} ${uniqueId()}`;
  let seen = { holder: '', forMs: 0 };
  for (let waited = 0; !take(lock, mine); ) {
    if (waited > GIVE_UP_AFTER_MS)
      throw configError(`${lock} is held by another process`, `If none is running: rm '${lock}'`);
    const step = STEP_MS * (1 + clock.random());
    await clock.sleep(step);
    waited += step;
    const holder = holderOf(lock);
    seen = { holder, forMs: holder === seen.holder ? seen.forMs + step : 0 };
    if (holder !== '' && (seen.forMs > STALE_AFTER_MS || isDead(holder))) breakLock(lock, holder);
  }
  try {
    return work();
  } finally {
    if (holderOf(lock) === mine) rmSync(lock, { force: true });
  }
}

function makePrivate(directory: string): void {
  try {
    makeDirectory(directory, 0o700);
  } catch (error) {
    throw inaccessible(directory, 'made', error);
  }
}

function take(lock: string, mine: string): boolean {
  try {
    writeFileSync(lock, mine, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw inaccessible(lock, 'written', error);
  }
}

/** Empty if there is no lock. */
function holderOf(lock: string): string {
  try {
    return readFileSync(lock, 'utf8');
  } catch {
    return '';
  }
}

function isDead(holder: string): boolean {
  const [host, pid] = holder.split(' ');
  if (host !== hostname()) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return codeOf(error) === 'ESRCH';
  }
}

/** Moves the lock aside before removing it: if another process was quicker, this one is alive and is put back. */
function breakLock(lock: string, holder: string): void {
  const aside = `${lock}.${uniqueId()}`;
  try {
    renameSync(lock, aside);
    if (holderOf(aside) !== holder) linkSync(aside, lock);
  } catch {
    // Somebody else broke or took it meanwhile.
  }
  rmSync(aside, { force: true });
}
