import { hostname } from 'node:os';
import path from 'node:path';
import { breakLock, holderOf, isAlive, releaseLock, takeLock } from '../core/lock-file.ts';
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
    const holder = holderOf(lock) ?? '';
    seen = { holder, forMs: holder === seen.holder ? seen.forMs + step : 0 };
    if (holder !== '' && (seen.forMs > STALE_AFTER_MS || isDead(holder))) breakLock(lock, holder);
  }
  try {
    return work();
  } finally {
    releaseLock(lock, mine);
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
    return takeLock(lock, mine);
  } catch (error) {
    throw inaccessible(lock, 'written', error);
  }
}

function isDead(holder: string): boolean {
  const [host, pid] = holder.split(' ');
  return host === hostname() && !isAlive(Number(pid));
}
