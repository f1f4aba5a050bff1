import { randomBytes } from 'node:crypto';
import { constants, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, link, lstat, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { getErrorCode } from '../../utils/error-utils.ts';
import { renameOver, renameOverSync } from './rename-over.ts';
import {
  type ContainedPath,
  flushHandle,
  makeContainedFolder,
  openContainedFile,
  resolveContainedPath,
  syncDirectory,
  toContainedPath,
} from './write-below.ts';

const { O_WRONLY, O_APPEND, O_CREAT } = constants;

/**
 * Matches the names of this process's own descriptors, which the user opened, whatever they lead
 * to.
 */
const OWN_DESCRIPTOR = /^\/(?:dev\/(?:stdout|stderr|fd\/\d+)|proc\/self\/fd\/\d+)$/u;

/** The null device of Windows, which a path below a folder does not reach. */
const WINDOWS_NULL = String.raw`\\.\NUL`;

const PERMISSION_BITS = 0o777;

/** The codes of faults of file systems without hard links. */
const NO_HARD_LINK_CODES = new Set([
  'EISDIR',
  'EPERM',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EMLINK',
  'EXDEV',
]);

/** The content of a file, or a function that writes it. */
export type FileContent = string | Uint8Array | ((target: FileHandle) => Promise<void>);

/** A file to write whose name may depend on its content. */
export interface UnnamedFile {
  /** Returns the name; called once the content is written. */
  readonly chooseName: () => string | Promise<string>;
  readonly content: FileContent;
  /** If the name is taken, gives the new file a suffix or replaces the old one. */
  readonly ifTaken: 'suffix' | 'replace';
}

/**
 * Replaces a file atomically; the new content is on disk once this resolves. Creates missing
 * folders.
 *
 * @param mode defaults to the mode of the former file; without one, the umask decides
 * @throws {LinkFault}, file system errors or errors of `content`
 */
export async function replaceFile(
  file: ContainedPath,
  content: FileContent,
  mode?: number,
): Promise<void> {
  makeContainedFolder(getParentFolder(file));
  await replaceCheckedFile(file, content, mode);
}

/**
 * Replaces a file whose whole path the user named, like `replaceFile`. Its folder has to exist.
 *
 * @throws {LinkFault}, file system errors or errors of `content`
 */
export async function replaceNamedFile(file: string, content: FileContent): Promise<void> {
  await replaceCheckedFile(toContainedPath(file), content);
}

/**
 * Appends to a file, a device or a pipe that the user named.
 *
 * @throws {LinkFault} for a link to anything else
 */
export async function appendToNamedFile(file: string, text: string): Promise<void> {
  const handle = isSpecialFile(file)
    ? await openDeviceOrPipe(file)
    : await openContainedFile(toContainedPath(file), O_WRONLY | O_APPEND | O_CREAT);
  await writeTo(handle, text);
}

/**
 * Replaces a file synchronously and without a flush, for small files that can be recreated.
 * Replaces a link too.
 */
export function replaceFileSync(file: string, content: string, mode: number): void {
  const tempPath = buildTempPath(file);
  try {
    writeFileSync(tempPath, content, { mode, flag: 'wx' });
    renameOverSync(tempPath, file);
  } catch (error) {
    rmSync(tempPath, { force: true });
    throw error;
  }
}

/**
 * Writes a new file atomically. Returns false and keeps the old one if the name is taken. Creates
 * missing folders.
 *
 * @throws {LinkFault}, file system errors or errors of `content`
 */
export async function createFile(
  file: ContainedPath,
  content: FileContent,
  mode?: number,
): Promise<boolean> {
  makeContainedFolder(getParentFolder(file));
  const tempPath = buildTempPath(resolveContainedPath(file));
  return await writeTempFile({ tempPath, content, mode }, () =>
    tryPlaceFile(tempPath, resolveContainedPath(file)),
  );
}

/**
 * Writes a file atomically, and creates its folder if it is missing. Returns its final name.
 *
 * @throws {LinkFault}, file system errors or errors of `content` or `chooseName`
 */
export async function writeUnderFreeName(
  folder: ContainedPath,
  { chooseName, content, ifTaken }: UnnamedFile,
): Promise<string> {
  const directory = makeContainedFolder(folder);
  const resolveTarget = (name: string): string =>
    resolveContainedPath({ ...folder, name: path.join(folder.name, name) });
  const tempPath = buildTempPath(path.join(directory, 'new'));
  return await writeTempFile({ tempPath, content }, async () => {
    const name = await chooseName();
    if (ifTaken === 'replace') {
      await renameOver(tempPath, resolveTarget(name));
      return name;
    }

    const { name: stem, ext } = path.parse(name);
    for (let suffix = 0; ; suffix += 1) {
      const candidate = suffix === 0 ? name : `${stem}_${suffix}${ext}`;
      if (await tryPlaceFile(tempPath, resolveTarget(candidate))) return candidate;
    }
  });
}

/** Gives a written file its name. Returns false and keeps the old file if the name is taken. */
export async function tryPlaceFile(tempPath: string, file: string): Promise<boolean> {
  try {
    await link(tempPath, file);
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return false;
    if (!NO_HARD_LINK_CODES.has(getErrorCode(error) ?? '')) throw error;
    return await tryPlaceWithoutLinks(tempPath, file);
  }
  return true;
}

/**
 * Checks a file that the user named for writing: a link may lead only to a device or a pipe.
 *
 * @throws {LinkFault}
 */
export function checkNamedForWriting(file: string): void {
  if (!isSpecialFile(file)) resolveContainedPath(toContainedPath(file));
}

/**
 * Returns true if a file is a device, a pipe or a socket, a link to one, or the name of an open
 * descriptor, such as /dev/stdout. On Windows, `NUL` in any folder is the null device.
 *
 * @param file an absolute path
 */
export function isSpecialFile(file: string): boolean {
  if (isWindowsNull(file)) return true;
  const stats = readStats(file);
  if (stats === undefined || stats.isDirectory()) return false;
  return !stats.isFile() || OWN_DESCRIPTOR.test(file);
}

/**
 * Opens a device or a pipe for writing. Waits until a named pipe has a reader.
 *
 * @throws file system errors
 */
export function openDeviceOrPipe(file: string): Promise<FileHandle> {
  // A descriptor may lead to a file, whose content must stay.
  return open(isWindowsNull(file) ? WINDOWS_NULL : file, O_WRONLY | O_APPEND);
}

function isWindowsNull(file: string): boolean {
  return process.platform === 'win32' && path.basename(file).toUpperCase() === 'NUL';
}

function readStats(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    return undefined;
  }
}

function getParentFolder({ folder, name }: ContainedPath): ContainedPath {
  return { folder, name: path.dirname(name) };
}

async function replaceCheckedFile(
  file: ContainedPath,
  content: FileContent,
  mode?: number,
): Promise<void> {
  const target = resolveContainedPath(file);
  const formerStats = await lstat(target).catch(() => undefined);
  const tempPath = buildTempPath(target);
  await writeTempFile({ tempPath, content, mode: mode ?? formerStats?.mode }, async () => {
    await renameOver(tempPath, resolveContainedPath(file));
  });
}

function buildTempPath(file: string): string {
  return path.join(path.dirname(file), `.promptrun-${randomBytes(6).toString('hex')}.part`);
}

interface TempFile {
  readonly tempPath: string;
  readonly content: FileContent;
  readonly mode?: number | undefined;
}

/** Writes a temporary file, which `place` moves to its final path. */
async function writeTempFile<T>(
  { tempPath, content, mode }: TempFile,
  place: () => Promise<T>,
): Promise<T> {
  try {
    const handle = await open(tempPath, 'wx', mode);
    // The umask may have taken bits of the mode away, such as those of a group that shares the file.
    if (mode !== undefined) await handle.chmod(mode & PERMISSION_BITS).catch(() => {});
    await writeTo(handle, content, flushHandle);
    const result = await place();
    await syncDirectory(path.dirname(tempPath));
    return result;
  } finally {
    await rm(tempPath, { force: true });
  }
}

async function writeTo(
  handle: FileHandle,
  content: FileContent,
  flush?: typeof flushHandle,
): Promise<void> {
  try {
    await (typeof content === 'function' ? content(handle) : handle.writeFile(content));
    await flush?.(handle);
  } finally {
    await handle.close();
  }
}

/**
 * Gives a file its name on a file system without hard links: creates an empty file first, then
 * replaces it.
 */
async function tryPlaceWithoutLinks(tempPath: string, file: string): Promise<boolean> {
  try {
    await (await open(file, 'wx')).close();
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return false;
    throw error;
  }
  await renameOver(tempPath, file);
  return true;
}
