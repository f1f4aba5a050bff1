import { randomBytes } from 'node:crypto';
import { fdatasync, fsync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, link, open, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { syncDirectory } from './directories.ts';
import { codeOf } from './error-utils.ts';

/** What a file is to hold, or what writes it piece by piece. */
export type Content = string | Uint8Array | ((target: FileHandle) => Promise<void>);

/**
 * Replaces a file whole or not at all; the new content is on disk once this resolves. A link stays one, and what is not
 * a regular file, such as /dev/stdout, is written to directly.
 *
 * @param mode default: that of the former file, else what the umask leaves
 * @throws what the file system or `content` throws
 */
export async function replaceFile(file: string, content: Content, mode?: number): Promise<void> {
  const former = await stat(file).catch(() => undefined);
  if (former !== undefined && !former.isFile()) return writeTo(await open(file, 'w'), content);
  const target = former === undefined ? file : await realpath(file);
  const part = partBeside(target);
  await writePart(part, content, mode ?? former?.mode, () => rename(part, target));
}

/** As `replaceFile`, at once and without the wait for the disk: for small files that can be made anew. */
export function replaceFileSync(file: string, content: string, mode: number): void {
  const part = partBeside(file);
  try {
    writeFileSync(part, content, { mode, flag: 'wx' });
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

/** Writes a new file whole or not at all; false if there is one of that name already, which is kept. */
export async function createFile(file: string, content: Content, mode?: number): Promise<boolean> {
  const part = partBeside(file);
  return await writePart(part, content, mode, () => placeNew(part, file));
}

/**
 * Writes a file whole or not at all. A file that exists is kept, and the new one gets a suffix, unless `force`.
 *
 * @param nameFor called once the content is written
 * @returns the name it got
 * @throws what the file system, `content` or `nameFor` throws
 */
export async function writeUnderFreeName(
  directory: string,
  nameFor: () => string | Promise<string>,
  content: Content,
  force: boolean,
): Promise<string> {
  const part = partBeside(path.join(directory, 'new'));
  return await writePart(part, content, undefined, async () => {
    const name = await nameFor();
    if (force) await rename(part, path.join(directory, name));
    if (force) return name;
    const { name: stem, ext } = path.parse(name);
    for (let number = 0; ; number += 1) {
      const free = number === 0 ? name : `${stem}_${number}${ext}`;
      if (await placeNew(part, path.join(directory, free))) return free;
    }
  });
}

/** What a handle holds is on disk once this resolves. Some file systems' handles have no `sync` of their own. */
export async function flushHandle(handle: FileHandle): Promise<void> {
  await promisify(fsync)(handle.fd);
}

/** As `flushHandle`, without what no reader needs, such as the time of the change. */
export async function flushData(handle: FileHandle): Promise<void> {
  await promisify(fdatasync)(handle.fd);
}

function partBeside(file: string): string {
  return path.join(path.dirname(file), `.promptrun-${randomBytes(6).toString('hex')}.part`);
}

async function writePart<T>(
  part: string,
  content: Content,
  mode: number | undefined,
  place: () => Promise<T>,
): Promise<T> {
  try {
    await writeTo(await open(part, 'wx', mode), content, flushHandle);
    const placed = await place();
    await syncDirectory(path.dirname(part));
    return placed;
  } finally {
    await rm(part, { force: true });
  }
}

async function writeTo(handle: FileHandle, content: Content, flush?: typeof flushHandle): Promise<void> {
  try {
    await (typeof content === 'function' ? content(handle) : handle.writeFile(content));
    await flush?.(handle);
  } finally {
    await handle.close();
  }
}

const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']);

/** Gives a written file its name; false if there is a file of that name already, which is kept. */
export async function placeNew(part: string, file: string): Promise<boolean> {
  try {
    await link(part, file);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    if (!NO_LINKS.has(codeOf(error) ?? '')) throw error;
    return await placeWithoutLinks(part, file);
  }
  return true;
}

/** For file systems without hard links: the name is taken first, then filled. */
async function placeWithoutLinks(part: string, file: string): Promise<boolean> {
  try {
    await (await open(file, 'wx')).close();
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  await rename(part, file);
  return true;
}
