import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import type { Env } from '../../utils/env.ts';
import { getErrorCode, getErrorMessage } from '../../utils/error-utils.ts';
import { findUserFolder } from '../user-folders.ts';
import { renameOverSync } from '../writing/rename-over.ts';
import { makeDirectory } from '../writing/write-below.ts';
import { readAssetText, readSharedAssetBytes } from './single-file.ts';

/** The file with the hexadecimal SHA-256 digests of packed files, by name. */
export const DIGESTS_FILE = 'digests.json';

/** A file that can't be used as it is shipped. */
export interface PackedFile {
  /** The file name once it is unpacked. */
  readonly name: string;
  /** The hexadecimal SHA-256 of its content. */
  readonly digest: string;
  readonly read: () => Uint8Array;
}

/**
 * Returns a file of the single executable that can't be used from memory.
 *
 * @param name the path of the file in the package
 */
export function getPackedFile(name: string): PackedFile {
  const digests = JSON.parse(readAssetText(DIGESTS_FILE)) as Readonly<Record<string, string>>;
  const digest = digests[name];
  if (digest === undefined) throw new Error(`${name} is not among the files of this executable`);

  return {
    name: path.basename(name),
    digest,
    read: () => readSharedAssetBytes(name),
  };
}

/**
 * Uses a packed file. Unpacks it into a folder of the user, unless a file with its digest is there: a
 * truncated native library would end the process with SIGBUS. Tries the next folder if one can't be
 * written or its file can't be used.
 *
 * @throws {Error} if no folder works; the message names each
 */
export function withUnpackedFile<T>(
  packedFile: PackedFile,
  use: (file: string) => T,
  env: Env = process.env,
): T {
  const faults: string[] = [];
  for (const folder of listUnpackFolders(env)) {
    try {
      return use(unpack(packedFile, path.join(folder, packedFile.digest)));
    } catch (error) {
      faults.push(`${folder}: ${getErrorMessage(error)}`);
    }
  }
  throw new Error(
    `${packedFile.name} can't be unpacked and used, neither in ${faults.join(' nor in ')}`,
  );
}

/**
 * Returns the folders for unpacked files: the user's cache, then one below the temporary folder.
 */
export function listUnpackFolders(env: Env): string[] {
  const cache = findUserFolder('cache', env);
  const temporary = path.join(tmpdir(), `promptrun-${process.getuid?.() ?? userInfo().username}`);
  return cache === undefined ? [temporary] : [cache, temporary];
}

/**
 * Writes the file unless it has this content already, in a folder that only the user can write to.
 *
 * @throws {Error} if it can't
 */
function unpack(packedFile: PackedFile, folder: string): string {
  makeDirectory(folder, 0o700);
  requireOwnFolder(path.dirname(folder));

  if ((requireOwnFolder(folder) & 0o777) !== 0o700 && process.platform !== 'win32') {
    chmodSync(folder, 0o700);
  }

  const file = path.join(folder, packedFile.name);
  if (!isUnpacked(file, packedFile)) replaceUnpacked(file, packedFile);
  return file;
}

/**
 * Returns the mode of a folder.
 *
 * @throws {Error} if it isn't this user's, or others may write to it
 */
function requireOwnFolder(folder: string): number {
  const stats = lstatSync(folder);
  const { uid, mode } = stats;
  if (!stats.isDirectory()) throw new Error(`${folder} is not a folder`);
  if (process.getuid === undefined) return mode;
  if (uid !== process.getuid()) throw new Error(`${folder} belongs to another user`);
  if ((mode & 0o022) !== 0) throw new Error(`others can write to ${folder}`);
  return mode;
}

function isUnpacked(file: string, { digest }: PackedFile): boolean {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  return (
    stats?.isFile() === true &&
    createHash('sha256').update(readFileSync(file)).digest('hex') === digest
  );
}

/**
 * Writes a temporary file and renames it, because another process may have the damaged one mapped.
 */
function replaceUnpacked(file: string, packedFile: PackedFile): void {
  const tempFile = `${file}.${process.pid}`;
  try {
    rmSync(tempFile, { force: true });
    writeFileSync(tempFile, packedFile.read(), { mode: 0o600, flag: 'wx', flush: true });
    if (lstatSync(file, { throwIfNoEntry: false })?.isDirectory()) {
      rmSync(file, { recursive: true });
    }
    renameOverSync(tempFile, file);
  } catch (error) {
    rmSync(tempFile, { force: true });
    // Windows does not replace a file that another process has loaded. It serves if its content is
    // right.
    const isLoaded = ['EACCES', 'EBUSY', 'EPERM'].includes(getErrorCode(error) ?? '');
    if (!isLoaded || !isUnpacked(file, packedFile)) throw error;
  }
}
