import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { codeOf } from './error-utils.ts';
import { uniqueId } from './sha256.ts';

/** Makes a lock that says who holds it; false where there is one already. @throws what writing it throws */
export function takeLock(lock: string, holder: string): boolean {
  try {
    writeFileSync(lock, holder, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** What a lock says of its holder; undefined where there is none. */
export function holderOf(lock: string): string | undefined {
  try {
    return readFileSync(lock, 'utf8');
  } catch {
    return undefined;
  }
}

/** Removes a lock, unless somebody else holds it by now. */
export function releaseLock(lock: string, holder: string): void {
  if (holderOf(lock) === holder) rmSync(lock, { force: true });
}

/** Moves the lock aside before removing it: if another process was quicker, that one is alive and its lock is put back. */
export function breakLock(lock: string, holder: string): void {
  const aside = `${lock}.${uniqueId()}`;
  try {
    renameSync(lock, aside);
    if (holderOf(aside) !== holder) linkSync(aside, lock);
  } catch {
    // Somebody else broke or took it meanwhile.
  }
  rmSync(aside, { force: true });
}

/** Whether a process of this machine is running; one that can't be asked for is taken to be. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}
