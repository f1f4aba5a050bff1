import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { MAX_IMAGE_BYTES } from '../../wire/index.ts';
import { usageError } from '../errors.ts';
import { imageInMemory } from './image-in-memory.ts';
import { checkImageContent, checkImageSize, type ImageSource, SNIFFED_BYTES } from './image-source.ts';
import { fileFault } from './read-text.ts';

const CHUNK_BYTES = 192 * 1024;

/** An image in a file: checked now, read again in pieces when it is sent, so that its size costs no memory. */
export async function openImageFile(given: string, cwd: string): Promise<ImageSource> {
  const file = path.resolve(cwd, given);
  const handle = await open(file, constants.O_RDONLY).catch((error: unknown) => {
    throw fileFault(error, given === '' ? '(an empty name)' : given, 'image');
  });
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) throw usageError(`image ${given} is a directory`);
    if (!stats.isFile()) return await imageInMemory(await readUpToLimit(handle), given);
    return await checkedFile(file, given, handle, stats);
  } finally {
    await handle.close();
  }
}

async function checkedFile(
  file: string,
  name: string,
  handle: FileHandle,
  stats: Stats,
): Promise<ImageSource> {
  checkImageSize(stats.size, name);
  const beginning = Buffer.alloc(Math.min(SNIFFED_BYTES, stats.size));
  const { bytesRead } = await handle.read(beginning, 0, beginning.length, 0);
  await checkImageContent(beginning.subarray(0, bytesRead), name);
  const hash = createHash('sha256');
  for await (const chunk of piecesOf(handle)) hash.update(chunk);
  const sha256 = hash.digest('hex');
  return {
    kind: 'bytes',
    name,
    size: stats.size,
    sha256,
    chunks: () => unchanged(file, name, stats.size, sha256),
  };
}

/** The file's bytes; its last piece is held back until it is certain that they are those that were checked. */
async function* unchanged(
  file: string,
  name: string,
  size: number,
  sha256: string,
): AsyncGenerator<Uint8Array> {
  const handle = await open(file, constants.O_RDONLY).catch((error: unknown) => {
    throw fileFault(error, name, 'image');
  });
  try {
    const hash = createHash('sha256');
    let length = 0;
    let held: Uint8Array | undefined;
    for await (const chunk of piecesOf(handle)) {
      if (held !== undefined) yield held;
      hash.update(chunk);
      length += chunk.length;
      held = chunk;
      if (length > size) break;
    }
    if (length !== size || hash.digest('hex') !== sha256) {
      throw usageError(`image ${name} changed while it was being sent`, 'Nothing was started. Run it again.');
    }
    if (held !== undefined) yield held;
  } finally {
    await handle.close();
  }
}

/** The bytes from the start, each piece in memory of its own. */
async function* piecesOf(handle: FileHandle): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** A pipe or a device: no size is known and it can be read once only. */
async function readUpToLimit(handle: FileHandle): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  while (length <= MAX_IMAGE_BYTES) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, null);
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
  return Buffer.concat(chunks);
}
