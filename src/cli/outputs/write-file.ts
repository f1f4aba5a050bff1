import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, link, open, rename, unlink } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from '../core/error-utils.ts';
import { makeDirectory } from '../core/make-directory.ts';

export interface WrittenFile {
  /** The name it got, in the directory given. */
  readonly name: string;
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/**
 * Writes a file whole or not at all. A file that exists is kept, and the new one gets a suffix, unless `force`.
 *
 * @param nameFor the name, once the first bytes (at most 4100) are known
 */
export async function writeWhole(
  directory: string,
  nameFor: (beginning: Uint8Array) => string | Promise<string>,
  content: AsyncIterable<Uint8Array>,
  force: boolean,
): Promise<WrittenFile> {
  makeDirectory(directory);
  const part = path.join(directory, `.promptrun-${randomBytes(6).toString('hex')}.part`);
  try {
    const { beginning, ...facts } = await writePart(part, content);
    const name = await nameFor(beginning);
    return { name: await place(part, directory, name, force), ...facts };
  } catch (error) {
    await unlink(part).catch(() => {});
    throw error;
  }
}

const BEGINNING_BYTES = 4100;

async function writePart(
  part: string,
  content: AsyncIterable<Uint8Array>,
): Promise<{ size: number; sha256: string; beginning: Uint8Array }> {
  const file = await open(part, 'wx', 0o666);
  try {
    return await copy(content, file);
  } finally {
    await file.close();
  }
}

async function copy(
  content: AsyncIterable<Uint8Array>,
  file: FileHandle,
): Promise<{ size: number; sha256: string; beginning: Uint8Array }> {
  const hash = createHash('sha256');
  let size = 0;
  let beginning: Uint8Array = new Uint8Array();
  for await (const chunk of content) {
    if (beginning.length < BEGINNING_BYTES) {
      beginning = Buffer.concat([beginning, chunk.subarray(0, BEGINNING_BYTES - beginning.length)]);
    }
    hash.update(chunk);
    size += chunk.length;
    await file.appendFile(chunk);
  }
  await file.sync();
  return { size, sha256: hash.digest('hex'), beginning };
}

/** Gives the finished file its name, and returns it. */
async function place(part: string, directory: string, name: string, force: boolean): Promise<string> {
  if (force) {
    await rename(part, path.join(directory, name));
    return name;
  }
  for (let number = 0; ; number += 1) {
    const free = number === 0 ? name : withSuffix(name, number);
    if (await placeAs(part, path.join(directory, free))) return free;
  }
}

/** False where there is a file of that name already. */
async function placeAs(part: string, file: string): Promise<boolean> {
  try {
    await link(part, file);
    await unlink(part);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return false;
    if (!NO_LINKS.has(code ?? '')) throw error;
  }
  return placeWithoutLinks(part, file);
}

const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV']);

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

function withSuffix(name: string, number: number): string {
  const { name: stem, ext } = path.parse(name);
  return `${stem}_${number}${ext}`;
}
