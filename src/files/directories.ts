import { closeSync, existsSync, fsync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { codeOf } from './error-utils.ts';

/**
 * Makes a directory and those above it that are missing; each is on disk once this returns. Node's own recursive way
 * never comes back from where nothing can be made, such as /proc.
 *
 * @param mode of each that is made
 * @throws what mkdir throws
 */
export function makeDirectory(directory: string, mode = 0o777): void {
  const above = path.dirname(directory);
  try {
    mkdirSync(directory, { mode });
  } catch (error) {
    if (isDirectory(directory)) return;
    if (codeOf(error) !== 'ENOENT' || existsSync(above)) throw error;
    makeDirectory(above, mode);
    return makeDirectory(directory, mode);
  }
  const handle = openDirectory(above);
  if (handle === undefined) return;
  fsyncSync(handle);
  closeSync(handle);
}

/** Whether there is a directory of that name. */
export function isDirectory(file: string): boolean {
  try {
    return statSync(file).isDirectory();
  } catch {
    return false;
  }
}

/** Makes the names of new files in a directory survive a power cut, if the system can open a directory. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = openDirectory(directory);
  if (handle === undefined) return;
  await promisify(fsync)(handle)
    .catch(() => {})
    .finally(() => closeSync(handle));
}

/**
 * A directory may be one to write to and not to read: its names may then be lost in a power cut within seconds. Windows
 * writes no directory to the disk on demand, and refuses to.
 */
function openDirectory(directory: string): number | undefined {
  if (process.platform === 'win32') return undefined;
  try {
    return openSync(directory, 'r');
  } catch {
    return undefined;
  }
}
