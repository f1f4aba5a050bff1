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
import { codeOf } from './error-utils.ts';

// Node has no `openat`, so each part of a path is looked at just before it is used. A program that swaps a folder for a
// link in that moment runs as the same user, and SECURITY.md says that it is not covered.

/** A file that is to be written: a folder as the user named it, and a path below it that the program chose. */
export interface FileBelow {
  /** Absolute. It may be a link, and so may what leads to it. */
  readonly folder: string;
  /** Relative. No part of it may be a link. */
  readonly name: string;
}

/** Something that stands where a file is to be written, and must stay as it is. */
export class PathFault extends Error {
  override readonly name: string = 'PathFault';
  readonly code = 'PATH_FAULT';
}

/** A link in a path that is to be written, and would lead elsewhere. */
export class LinkFault extends PathFault {
  override readonly name = 'LinkFault';

  constructor(readonly link: string) {
    super(`${link} is a link, and nothing is written through it`);
  }
}

/** A file in a folder that may be a link: only the file's own name is the program's, or must not be a link. */
export function fileIn(file: string): FileBelow {
  return { folder: path.dirname(file), name: path.basename(file) };
}

/**
 * Returns the path of a file that is to be written, if no part of its name is a link. Parts that are not there yet are
 * not links.
 *
 * @throws {LinkFault}
 */
export function checkBelow({ folder, name }: FileBelow): string {
  let place = folder;
  for (const part of partsOf(name)) {
    place = path.join(place, part);
    if (isLink(place)) throw new LinkFault(place);
  }
  return path.join(folder, name);
}

/** Returns true for a link, to whatever it leads. What can't be looked at can't be written through either. */
export function isLink(file: string): boolean {
  try {
    return lstatSync(file).isSymbolicLink();
  } catch {
    return false;
  }
}

/**
 * Makes a folder below another, one part at a time; the other one as well.
 *
 * @throws {LinkFault}
 */
export function makeFolderBelow({ folder, name }: FileBelow, mode?: number): string {
  makeDirectory(folder, mode);
  let made = '';
  for (const part of partsOf(name)) {
    made = path.join(made, part);
    makeDirectory(checkBelow({ folder, name: made }), mode);
  }
  return checkBelow({ folder, name });
}

/** Windows has neither, and `|` takes undefined for 0. */
const { O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * Opens a regular file to write to it. A pipe or a device at its name never blocks.
 *
 * @param flags of `open`, as numbers
 * @throws {PathFault} and what the file system throws
 */
export async function openBelow(file: FileBelow, flags: number, mode = 0o666): Promise<FileHandle> {
  const place = checkBelow(file);
  const handle = await open(place, flags | O_NOFOLLOW | O_NONBLOCK, mode).catch((error: unknown) => {
    // What the system says of a link differs: ELOOP, EMLINK, EISDIR.
    checkBelow(file);
    throw error;
  });
  try {
    // Windows has no O_NOFOLLOW.
    checkBelow(file);
    if ((await handle.stat()).isFile()) return handle;
    throw new PathFault(`${place} is not a regular file`);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Shortens a file that is open for appending. On Windows such a handle has no right to shorten it, so the file is opened
 * once more.
 *
 * @param size unless it is this long any more, it is left as it is
 * @returns false if another file has its name by now
 * @throws {PathFault} and what the file system throws
 */
export function truncateBelow(file: FileBelow, { fd }: FileHandle, size: number, length: number): boolean {
  const writable = openSync(checkBelow(file), constants.O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  try {
    const [named, opened] = [fstatSync(writable, { bigint: true }), fstatSync(fd, { bigint: true })];
    if (named.ino !== opened.ino || named.dev !== opened.dev) return false;
    if (named.size === BigInt(size)) ftruncateSync(writable, length);
    return true;
  } finally {
    closeSync(writable);
  }
}

function partsOf(name: string): string[] {
  const parts = path.normalize(name).split(path.sep);
  if (path.isAbsolute(name) || parts.includes('..')) throw new Error(`${name} leads out of its folder`);
  return parts.filter(part => part !== '' && part !== '.');
}

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
    if (codeOf(error) !== 'ENOENT') throw error;
    if (existsSync(above)) throw isDirectory(above) ? error : notDirectory(above);
    makeDirectory(above, mode);
    return makeDirectory(directory, mode);
  }
  const handle = openDirectory(above);
  if (handle === undefined) return;
  fsyncSync(handle);
  closeSync(handle);
}

/** What other systems say of a file in the way. Windows says that nothing is there. */
function notDirectory(file: string): Error {
  return Object.assign(new Error(`ENOTDIR: ${file} is not a directory`), { code: 'ENOTDIR' });
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

/** What a handle holds is on disk once this resolves. Some file systems' handles have no `sync` of their own. */
export async function flushHandle(handle: FileHandle): Promise<void> {
  await promisify(fsync)(handle.fd);
}

/** As `flushHandle`, without what no reader needs, such as the time of the change. */
export async function flushData(handle: FileHandle): Promise<void> {
  await promisify(fdatasync)(handle.fd);
}
