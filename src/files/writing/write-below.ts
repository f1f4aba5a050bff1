import {
  closeSync,
  constants,
  existsSync,
  fdatasync,
  fstatSync,
  fsync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  statSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { getErrorCode } from '../../utils/error-utils.ts';
import { isDeviceName } from './device-name.ts';

// Node has no `openat`, so each part of a path is checked just before its use. A program that swaps
// a folder for a link in between runs as the same user, which SECURITY.md excludes.

// Windows has neither; `|` treats undefined as 0.
const { O_NOFOLLOW, O_NONBLOCK } = constants;

/** A file to write: a folder that the user named, and a path below it that the program chose. */
export interface ContainedPath {
  /** The folder, absolute. It and its parents may be links. */
  readonly folder: string;
  /** The relative path. No part of it may be a link. */
  readonly name: string;
}

/** A file can't be written because its path leads to something that must not be changed. */
export class PathFault extends Error {
  override readonly name: string = 'PathFault';

  constructor(
    message: string,
    readonly code = 'PATH_FAULT',
  ) {
    super(message);
  }
}

export class LinkFault extends PathFault {
  override readonly name = 'LinkFault';

  constructor(readonly link: string) {
    super(`${link} is a link, and nothing is written through it`);
  }
}

/** Refuses to create a file or folder with a device name on Windows. @throws {PathFault} */
export function checkDeviceName(file: string, platform = process.platform): void {
  if (platform !== 'win32' || !isDeviceName(path.win32.basename(file))) return;
  throw new PathFault(`${file} can't be made: Windows keeps that name for a device`, 'DEVICE_NAME');
}

/** Splits a path into its folder, which may be a link, and the file's name, which may not. */
export function toContainedPath(file: string): ContainedPath {
  return { folder: path.dirname(file), name: path.basename(file) };
}

/**
 * Returns the path of a file to write. Checks that no part of its name is a link or a device name;
 * missing parts are fine.
 *
 * @throws {PathFault}
 */
export function resolveContainedPath({ folder, name }: ContainedPath): string {
  let partialPath = folder;
  for (const segment of splitPathSegments(name)) {
    partialPath = path.join(partialPath, segment);
    checkDeviceName(partialPath);
    if (isLink(partialPath)) throw new LinkFault(partialPath);
  }
  return path.join(folder, name);
}

/**
 * Returns true if a path is a symbolic link; false if it can't be checked, because then it can't be
 * written either.
 */
export function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch {
    return false;
  }
}

/**
 * Creates a folder below another, segment by segment; also the other one if it is missing.
 *
 * @throws {LinkFault}
 */
export function makeContainedFolder({ folder, name }: ContainedPath, mode?: number): string {
  makeDirectory(folder, mode);
  let relative = '';
  for (const segment of splitPathSegments(name)) {
    relative = path.join(relative, segment);
    makeDirectory(resolveContainedPath({ folder, name: relative }), mode);
  }
  return resolveContainedPath({ folder, name });
}

/**
 * Opens a regular file for writing. Never blocks on a pipe or a device of that name.
 *
 * @param flags the numeric flags of `open`
 * @throws {PathFault} or file system errors
 */
export async function openContainedFile(
  file: ContainedPath,
  flags: number,
  mode = 0o666,
): Promise<FileHandle> {
  const resolved = resolveContainedPath(file);
  const handle = await open(resolved, flags | O_NOFOLLOW | O_NONBLOCK, mode).catch(
    (error: unknown) => {
      // The error code for a link differs between systems: ELOOP, EMLINK, EISDIR.
      resolveContainedPath(file);
      throw error;
    },
  );
  try {
    // Windows has no O_NOFOLLOW.
    resolveContainedPath(file);
    if ((await handle.stat()).isFile()) return handle;
    throw new PathFault(`${resolved} is not a regular file`);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Truncates a file that is open for appending. Opens it once more, because on Windows such a handle
 * can't truncate.
 *
 * @param sizes a file of another size than the expected one is left unchanged
 * @returns false if another file has its name by now
 * @throws {PathFault} or file system errors
 */
export function truncateContainedFile(
  file: ContainedPath,
  { fd }: FileHandle,
  { expectedSize, newSize }: { readonly expectedSize: number; readonly newSize: number },
): boolean {
  const writableFd = openSync(
    resolveContainedPath(file),
    constants.O_RDWR | O_NOFOLLOW | O_NONBLOCK,
  );
  try {
    const namedFile = fstatSync(writableFd, { bigint: true });
    const openFile = fstatSync(fd, { bigint: true });
    if (namedFile.ino !== openFile.ino || namedFile.dev !== openFile.dev) return false;
    if (namedFile.size === BigInt(expectedSize)) ftruncateSync(writableFd, newSize);
    return true;
  } finally {
    closeSync(writableFd);
  }
}

function splitPathSegments(name: string): string[] {
  const parts = path.normalize(name).split(path.sep);
  if (path.isAbsolute(name) || parts.includes('..')) {
    throw new Error(`${name} leads out of its folder`);
  }
  return parts.filter(part => part !== '' && part !== '.');
}

/**
 * Creates a directory and its missing parents; each is on disk once this returns. Node's recursive
 * mkdir never returns for a path where nothing can be created, such as /proc.
 *
 * @param mode the mode of each new directory
 * @throws errors of mkdir
 */
export function makeDirectory(directory: string, mode = 0o777): void {
  const parent = path.dirname(directory);
  checkDeviceName(directory);

  try {
    mkdirSync(directory, { mode });
  } catch (error) {
    if (isDirectory(directory)) return;
    // Nothing is above the root of a drive that is not there.
    if (getErrorCode(error) !== 'ENOENT' || parent === directory) throw error;
    if (existsSync(parent)) throw isDirectory(parent) ? error : notDirectoryError(parent);
    makeDirectory(parent, mode);
    return makeDirectory(directory, mode);
  }

  const fd = openDirectory(parent);
  if (fd === undefined) return;

  fsyncSync(fd);
  closeSync(fd);
}

/** Returns the error for a file in the way, which Windows reports as ENOENT. */
function notDirectoryError(file: string): Error {
  return Object.assign(new Error(`ENOTDIR: ${file} is not a directory`), { code: 'ENOTDIR' });
}

export function isDirectory(file: string): boolean {
  try {
    return statSync(file).isDirectory();
  } catch {
    return false;
  }
}

/**
 * Flushes a directory, so that the names of new files survive a power cut; does nothing if it can't
 * be opened.
 */
export async function syncDirectory(directory: string): Promise<void> {
  const fd = openDirectory(directory);
  if (fd === undefined) return;
  await promisify(fsync)(fd)
    .catch(() => {})
    .finally(() => closeSync(fd));
}

/**
 * Opens a directory to flush it; undefined if it may not be read, or on Windows, which can't flush
 * directories. Then a power cut may lose new names for some seconds.
 */
function openDirectory(directory: string): number | undefined {
  if (process.platform === 'win32') return undefined;
  try {
    return openSync(directory, 'r');
  } catch {
    return undefined;
  }
}

/**
 * Flushes a file to disk. Takes the descriptor, because handles of some file systems have no
 * `sync`.
 */
export async function flushHandle(handle: FileHandle): Promise<void> {
  await promisify(fsync)(handle.fd);
}

/**
 * Flushes the content of a file to disk, without metadata that no reader needs, such as the
 * modification time.
 */
export async function flushData(handle: FileHandle): Promise<void> {
  await promisify(fdatasync)(handle.fd);
}
