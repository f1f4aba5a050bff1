import { existsSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { codeOf } from './error-utils.ts';

/**
 * Makes a directory and those above it that are missing. Node's own recursive way never comes back from where nothing
 * can be made, such as /proc.
 *
 * @throws what mkdir throws
 */
export function makeDirectory(directory: string, mode = 0o777): void {
  try {
    mkdirSync(directory, { mode });
  } catch (error) {
    if (isDirectory(directory)) return;
    const above = path.dirname(directory);
    if (codeOf(error) !== 'ENOENT' || existsSync(above)) throw error;
    makeDirectory(above, mode);
    makeDirectory(directory, mode);
  }
}

/** Whether there is a directory of that name. */
export function isDirectory(file: string): boolean {
  try {
    return statSync(file).isDirectory();
  } catch {
    return false;
  }
}
