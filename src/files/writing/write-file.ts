import { randomBytes } from 'node:crypto';
import { constants, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, link, lstat, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { getErrorCode } from '../../utils/error-utils.ts';
import { renameOver, renameOverSync } from './rename-over.ts';
import {
  checkBelow,
  type FileBelow,
  flushHandle,
  makeFolderBelow,
  openBelow,
  syncDirectory,
  toFileBelow,
} from './write-below.ts';

/** The content of a file, or a function that writes it. */
export type FileContent = string | Uint8Array | ((target: FileHandle) => Promise<void>);

/**
 * Replaces a file atomically; the new content is on disk once this resolves. Creates missing
 * folders.
 *
 * @param mode default that of the former file, else by the umask
 * @throws {LinkFault}, file system errors or errors of `content`
 */
export async function replaceFile(
  file: FileBelow,
  content: FileContent,
  mode?: number,
): Promise<void> {
  makeFolderBelow(getParentFolder(file));
  await replaceIn(file, content, mode);
}

async function replaceIn(file: FileBelow, content: FileContent, mode?: number): Promise<void> {
  const target = checkBelow(file);
  const former = await lstat(target).catch(() => undefined);
  await writePart(buildPartPath(target), content, mode ?? former?.mode, async part => {
    await renameOver(part, checkBelow(file));
  });
}

/**
 * Replaces a file whose whole path the user named, like `replaceFile`. Its folder has to exist.
 *
 * @throws {LinkFault}, file system errors or errors of `content`
 */
export async function replaceNamedFile(file: string, content: FileContent): Promise<void> {
  await replaceIn(toFileBelow(file), content);
}

/**
 * Appends to a file, a device or a pipe that the user named.
 *
 * @throws {LinkFault} for a link to anything else
 */
export async function appendToNamedFile(file: string, text: string): Promise<void> {
  const handle = isSpecial(file)
    ? await openSpecial(file)
    : await openBelow(toFileBelow(file), O_WRONLY | O_APPEND | O_CREAT);
  await writeTo(handle, text);
}

/**
 * Checks a file that the user named for writing: a link may lead only to a device or a pipe.
 *
 * @throws {LinkFault}
 */
export function checkNamedForWriting(file: string): void {
  if (!isSpecial(file)) checkBelow(toFileBelow(file));
}

const { O_WRONLY, O_APPEND, O_CREAT } = constants;

/**
 * Matches the names of this process's own descriptors, which the user opened, whatever they lead
 * to.
 */
const OWN_DESCRIPTOR = /^\/(?:dev\/(?:stdout|stderr|fd\/\d+)|proc\/self\/fd\/\d+)$/u;

/** The null device of Windows, which a path below a folder does not reach. */
const WINDOWS_NULL = String.raw`\\.\NUL`;

/**
 * Returns true if a file is a device, a pipe or a socket, a link to one, or the name of an open
 * descriptor, such as /dev/stdout. On Windows, `NUL` in any folder is the null device.
 *
 * @param file an absolute path
 */
export function isSpecial(file: string): boolean {
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
export function openSpecial(file: string): Promise<FileHandle> {
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

function getParentFolder({ folder, name }: FileBelow): FileBelow {
  return { folder, name: path.dirname(name) };
}

/**
 * Replaces a file synchronously and without a flush, for small files that can be recreated.
 * Replaces a link too.
 */
export function replaceFileSync(file: string, content: string, mode: number): void {
  const part = buildPartPath(file);
  try {
    writeFileSync(part, content, { mode, flag: 'wx' });
    renameOverSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
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
  file: FileBelow,
  content: FileContent,
  mode?: number,
): Promise<boolean> {
  makeFolderBelow(getParentFolder(file));
  return await writePart(buildPartPath(checkBelow(file)), content, mode, part =>
    placeNew(part, checkBelow(file)),
  );
}

/**
 * Writes a file atomically.
 *
 * @param folder created if it is missing
 * @param nameFor returns the name; called once the content is written
 * @param ifTaken what to do if the name is taken: give the new file a suffix, or replace the old
 * one
 * @returns the final name
 * @throws {LinkFault}, file system errors or errors of `content` or `nameFor`
 */
export async function writeUnderFreeName(
  folder: FileBelow,
  nameFor: () => string | Promise<string>,
  content: FileContent,
  ifTaken: 'suffix' | 'replace',
): Promise<string> {
  const directory = makeFolderBelow(folder);
  const checkTarget = (name: string): string =>
    checkBelow({ ...folder, name: path.join(folder.name, name) });
  return await writePart(
    buildPartPath(path.join(directory, 'new')),
    content,
    undefined,
    async part => {
      const name = await nameFor();
      if (ifTaken === 'replace') {
        await renameOver(part, checkTarget(name));
        return name;
      }

      const { name: stem, ext } = path.parse(name);
      for (let number = 0; ; number += 1) {
        const free = number === 0 ? name : `${stem}_${number}${ext}`;
        if (await placeNew(part, checkTarget(free))) return free;
      }
    },
  );
}

function buildPartPath(file: string): string {
  return path.join(path.dirname(file), `.promptrun-${randomBytes(6).toString('hex')}.part`);
}

async function writePart<T>(
  part: string,
  content: FileContent,
  mode: number | undefined,
  place: (part: string) => Promise<T>,
): Promise<T> {
  try {
    await writeTo(await open(part, 'wx', mode), content, flushHandle);
    const placed = await place(part);
    await syncDirectory(path.dirname(part));
    return placed;
  } finally {
    await rm(part, { force: true });
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

const NO_LINKS = new Set(['EISDIR', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']);

/** Gives a written file its name. Returns false and keeps the old file if the name is taken. */
export async function placeNew(part: string, file: string): Promise<boolean> {
  try {
    await link(part, file);
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return false;
    if (!NO_LINKS.has(getErrorCode(error) ?? '')) throw error;
    return await placeWithoutLinks(part, file);
  }
  return true;
}

/**
 * Gives a file its name on a file system without hard links: creates an empty file first, then
 * replaces it.
 */
async function placeWithoutLinks(part: string, file: string): Promise<boolean> {
  try {
    await (await open(file, 'wx')).close();
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return false;
    throw error;
  }
  await renameOver(part, file);
  return true;
}
