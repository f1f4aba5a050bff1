import type { Stats } from 'node:fs';
import { chmod, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory } from './writing/write-below.ts';

/** The data directory or its store can't be used. The message names it and what to do. */
export class DataDirectoryError extends Error {
  readonly code: 'UNUSABLE_STORE' | 'DISK_FULL';

  constructor(message: string, options: ErrorOptions & { isDiskFull?: boolean } = {}) {
    super(message, options);
    this.code = options.isDiskFull ? 'DISK_FULL' : 'UNUSABLE_STORE';
  }
}

/** The database's file name in the data directory. */
export const DATABASE_FILE = 'promptrun.db';

/** Files that a data directory may hold before the first start. */
const USER_FILES = ['models.yaml'];

const WRITABLE_BY_OTHERS = 0o022;

/**
 * Creates the data directory (0700) if it is missing; returns the path of the database in it.
 *
 * @throws {DataDirectoryError} if others could have changed the directory
 */
export async function prepareDataDirectory(dataDir: string): Promise<string> {
  makeDirectory(dataDir, 0o700);
  checkOwner(dataDir, await stat(dataDir));
  await closeToOthers(dataDir);
  return path.join(dataDir, DATABASE_FILE);
}

function checkOwner(dataDir: string, { uid, mode }: Stats): void {
  if (process.platform === 'win32') return;
  if (belongsToAnother(uid)) {
    throw new DataDirectoryError(
      `the data directory ${dataDir} belongs to another user (id ${uid}), who could change what is in it; set PROMPTRUN_DATA_DIR to your own directory, or take it over with \`chown\``,
    );
  }
  if ((mode & WRITABLE_BY_OTHERS) !== 0) {
    throw new DataDirectoryError(
      `others can write to the data directory ${dataDir}; close it to them with \`chmod go-w ${dataDir}\`, or set PROMPTRUN_DATA_DIR to another directory`,
    );
  }
}

/** Returns true if the owner is neither this user nor root. */
function belongsToAnother(uid: number): boolean {
  return uid !== 0 && process.getuid !== undefined && uid !== process.getuid();
}

/** Closes the directory to others if it holds our database, or nothing of other programs. */
async function closeToOthers(dataDir: string): Promise<void> {
  const entries = await readdir(dataDir);
  const isOurs =
    entries.includes(DATABASE_FILE) || entries.every(name => USER_FILES.includes(name));
  if (isOurs) await chmod(dataDir, 0o700).catch(ignoreNotPermitted);
}

/** Ignores EPERM: a mounted volume may belong to root, who alone may change its mode. */
function ignoreNotPermitted(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPERM') throw error;
}
