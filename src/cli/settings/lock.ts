import path from 'node:path';
import { makeDirectory } from '../../files/directories.ts';
import { type Release, waitForLock } from '../../files/lock.ts';
import type { Clock } from '../core/types.ts';
import { configError } from '../errors.ts';
import { inaccessible } from './json-file.ts';

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
  const release = await locked(file, clock);
  try {
    return work();
  } finally {
    release();
  }
}

async function locked(file: string, clock: Pick<Clock, 'sleep' | 'random'>): Promise<Release> {
  const directory = path.dirname(file);
  try {
    makeDirectory(directory, 0o700);
  } catch (error) {
    throw inaccessible(directory, 'made', error);
  }
  const release = await waitForLock(file, clock).catch((error: unknown) => {
    throw inaccessible(`${file}.lock`, 'written', error);
  });
  if (release !== undefined) return release;
  throw configError(`${file}.lock is held by another process`, `If none is running: rm '${file}.lock'`);
}
