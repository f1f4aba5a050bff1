import type { Stats } from 'node:fs';
import { chmod, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory } from './write-below.ts';

/** The data directory, or what is kept, can't be used. The message names it and what to do. */
export class DataDirectoryError extends Error {
  readonly code: 'UNUSABLE_STORE' | 'DISK_FULL';

  constructor(message: string, options: ErrorOptions & { isDiskFull?: boolean } = {}) {
    super(message, options);
    this.code = options.isDiskFull ? 'DISK_FULL' : 'UNUSABLE_STORE';
  }
}

/** The database's file name in the data directory. */
export const DATABASE_FILE = 'promptrun.db';

/**
 * Makes the data directory (0700) where it is missing; returns the database's file in it.
 *
 * @throws {DataDirectoryError} for one that others could have changed
 */
export async function prepareDataDirectory(dataDir: string): Promise<string> {
  makeDirectory(dataDir, 0o700);
  refuseForeign(dataDir, await stat(dataDir));
  await closeToOthers(dataDir);
  return path.join(dataDir, DATABASE_FILE);
}

const WRITABLE_BY_OTHERS = 0o022;

function refuseForeign(dataDir: string, { uid, mode }: Stats): void {
  if (process.platform === 'win32') return;
  if (belongsToAnother(uid)) {
    throw new DataDirectoryError(
      `the data directory ${dataDir} belongs to another user (id ${uid}), who could change what is in it; set PROMPTRUN_DATA_DIR to a directory of your own, or take it over with \`chown\``,
    );
  }
  if ((mode & WRITABLE_BY_OTHERS) !== 0) {
    throw new DataDirectoryError(
      `others can write to the data directory ${dataDir}; close it to them with \`chmod go-w ${dataDir}\`, or set PROMPTRUN_DATA_DIR to another directory`,
    );
  }
}

/** Whether what has this owner could be changed by somebody who is neither this user nor root. */
function belongsToAnother(uid: number): boolean {
  return uid !== 0 && process.getuid !== undefined && uid !== process.getuid();
}

/** What a data directory may hold before its first start. */
const PUT_THERE_FIRST = ['models.yaml'];

/** A directory that holds other things as well keeps the mode its owner gave it. */
async function closeToOthers(dataDir: string): Promise<void> {
  const entries = await readdir(dataDir);
  const ours = entries.includes(DATABASE_FILE) || entries.every(name => PUT_THERE_FIRST.includes(name));
  if (ours) await chmod(dataDir, 0o700).catch(unlessRoots);
}

/** A volume that was mounted for this program may be root's, who alone may change its mode. */
function unlessRoots(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPERM') throw error;
}
