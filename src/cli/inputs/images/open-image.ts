import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { MAX_IMAGE_BYTES } from '../../../wire/index.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { fileFault, readStandardInput } from '../read-text.ts';
import {
  checkImageContent,
  checkImageSize,
  type ImageSource,
  imageInMemory,
  SNIFFED_BYTES,
} from './image-source.ts';

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//iu;

/** Opens the images in their order; every one is checked before anything is sent. */
export async function openImages(ctx: Context, given: readonly string[]): Promise<ImageSource[]> {
  const images: ImageSource[] = [];
  for (const image of given) images.push(await openImage(ctx, image));
  return images;
}

/** An image from a file, an https URL, a data URL or `-` for standard input. Refuses what is none, exit 2. */
export async function openImage(ctx: Context, given: string): Promise<ImageSource> {
  if (given === '-') {
    return imageInMemory(await readStandardInput(ctx, MAX_IMAGE_BYTES), 'standard input');
  }
  if (/^data:/iu.test(given)) return imageInMemory(decodeDataUrl(given), 'the data URL');
  if (SCHEME.test(given)) return imageByUrl(given);
  return openImageFile(given, ctx.cwd);
}

function imageByUrl(given: string): ImageSource {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined) throw usageError(`image ${given} is not a valid URL`);
  if (url.protocol !== 'https:') {
    throw usageError(
      `image ${given} is not an https URL; the service takes no other`,
      'Download the image and give the file instead.',
    );
  }
  return { kind: 'url', url: given, name: given };
}

function decodeDataUrl(given: string): Buffer {
  const comma = given.indexOf(',');
  const head = given.slice(0, comma);
  const data = given.slice(comma + 1);
  if (comma === -1) throw usageError('the data URL holds no comma and so no data');
  if (!/;base64$/iu.test(head)) return Buffer.from(decodePercent(data), 'latin1');
  const base64 = data.replace(/\s+/gu, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/u.test(base64) || base64.replace(/={1,2}$/u, '').length % 4 === 1) {
    throw usageError('the data URL does not hold valid base64');
  }
  return Buffer.from(base64, 'base64');
}

/** Percent-encoded bytes as one character each. */
function decodePercent(data: string): string {
  return data.replace(/%([0-9a-f]{2})/giu, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Divisible by three, so that base64 needs no copy of it. */
const CHUNK_BYTES = 384 * 1024;

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
  const version = await versionOf(handle);
  for await (const chunk of piecesOf(handle, 1)) hash.update(chunk);
  const checked = { file, name, size: stats.size, sha256: hash.digest('hex'), version };
  return {
    kind: 'bytes',
    name,
    size: checked.size,
    sha256: checked.sha256,
    chunks: () => unchanged(checked),
  };
}

/** A file as it was when it was checked. */
interface CheckedFile {
  /** Absolute. */
  readonly file: string;
  /** As the user gave it. */
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
  readonly version: string;
}

/** What is another once a file was written to or replaced. */
async function versionOf(handle: FileHandle): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

/** The file's bytes; its last piece is held back until it is certain that they are those that were checked. */
async function* unchanged(checked: CheckedFile): AsyncGenerator<Uint8Array> {
  const { file, name, size, sha256, version } = checked;
  const handle = await open(file, constants.O_RDONLY).catch((error: unknown) => {
    throw fileFault(error, name, 'image');
  });
  try {
    // A file that was touched meanwhile may still have the same bytes.
    const hash = (await versionOf(handle)) === version ? undefined : createHash('sha256');
    let length = 0;
    let last: Uint8Array | undefined;
    for await (const chunk of piecesOf(handle, 2)) {
      if (last !== undefined) yield last;
      hash?.update(chunk);
      length += chunk.length;
      last = chunk;
      if (length > size) break;
    }
    const same = hash ? hash.digest('hex') === sha256 : (await versionOf(handle)) === version;
    if (length !== size || !same) {
      throw usageError(`image ${name} changed while it was being sent`, 'Nothing was started. Run it again.');
    }
    if (last !== undefined) yield last;
  } finally {
    await handle.close();
  }
}

/** The bytes from the start; a piece is overwritten `pieces` later, since new memory takes longer than reading. */
async function* piecesOf(handle: FileHandle, pieces: number): AsyncGenerator<Uint8Array> {
  const memory = Array.from({ length: pieces }, () => Buffer.allocUnsafeSlow(CHUNK_BYTES));
  for (let position = 0, count = 0; ; count += 1) {
    const place = memory[count % pieces] as Buffer;
    const { bytesRead, buffer } = await handle.read(place, 0, CHUNK_BYTES, position);
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
