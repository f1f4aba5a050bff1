import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { MAX_IMAGE_BYTES } from '../../../wire/index.ts';
import type { Context } from '../../context.ts';
import { type CliError, usageError } from '../../errors.ts';
import { fileFault, readStandardInput } from '../read-text.ts';
import {
  checkImageContent,
  checkImageSize,
  type ImageSource,
  imageInMemory,
  SNIFFED_BYTES,
} from './image-source.ts';
import type { ImageFinder } from './place-images.ts';

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//iu;

/** Images as the command line names them. */
export function imagesHere(ctx: Context): ImageFinder {
  return { cwd: ctx.cwd, open: given => openImage(ctx, given) };
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
const CHUNK_BYTES = 360 * 1024;

/**
 * An image in a file: checked now, read again in pieces when it is sent, so that its size costs no memory. It is read in
 * this thread, since handing pieces over from another takes longer than reading them.
 */
export async function openImageFile(given: string, cwd: string): Promise<ImageSource> {
  const file = path.resolve(cwd, given);
  const stats = orFault(given, () => statSync(file));
  if (stats.isDirectory()) throw usageError(`image ${given} is a directory`);
  // A pipe is waited for; a file is not.
  if (!stats.isFile()) return await imageInMemory(await readUpToLimit(file, given), given);
  const descriptor = orFault(given, () => openSync(file, constants.O_RDONLY));
  try {
    return await checkedFile(file, given, descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function orFault<T>(name: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw fileFault(error, name === '' ? '(an empty name)' : name, 'image');
  }
}

async function checkedFile(file: string, name: string, descriptor: number): Promise<ImageSource> {
  const { size } = fstatSync(descriptor);
  checkImageSize(size, name);
  const beginning = Buffer.alloc(Math.min(SNIFFED_BYTES, size));
  const bytesRead = readSync(descriptor, beginning, 0, beginning.length, 0);
  await checkImageContent(beginning.subarray(0, bytesRead), name);
  const hash = createHash('sha256');
  const version = versionOf(descriptor);
  for (const chunk of piecesOf(descriptor)) hash.update(chunk);
  const checked = { file, name, size, sha256: hash.digest('hex'), version };
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
function versionOf(descriptor: number): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = fstatSync(descriptor, { bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

/** The file's bytes; its last piece is given once it is certain that they are those that were checked. */
async function* unchanged({ file, name, size, sha256, version }: CheckedFile): AsyncGenerator<Uint8Array> {
  const descriptor = orFault(name, () => openSync(file, constants.O_RDONLY));
  try {
    // A file that was touched meanwhile may still have the same bytes.
    const hash = versionOf(descriptor) === version ? undefined : createHash('sha256');
    const isSame = (): boolean => (hash ? hash.digest('hex') === sha256 : versionOf(descriptor) === version);
    let left = size;
    for (const chunk of piecesOf(descriptor)) {
      hash?.update(chunk);
      left -= chunk.length;
      if (left < 0 || (left === 0 && !isSame())) throw changed(name);
      yield chunk;
    }
    if (left > 0) throw changed(name);
  } finally {
    closeSync(descriptor);
  }
}

function changed(name: string): CliError {
  return usageError(`image ${name} changed while it was being sent`, 'Nothing was started. Run it again.');
}

/** The bytes from the start, each piece in the memory of the one before, since new memory takes longer than reading. */
function* piecesOf(descriptor: number): Generator<Uint8Array> {
  const memory = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  for (let position = 0; ; ) {
    const length = readSync(descriptor, memory, 0, CHUNK_BYTES, position);
    if (length === 0) return;
    position += length;
    yield memory.subarray(0, length);
  }
}

/** A pipe or a device: no size is known and it can be read once only. */
async function readUpToLimit(file: string, name: string): Promise<Buffer> {
  const handle = await open(file, constants.O_RDONLY).catch((error: unknown) => {
    throw fileFault(error, name, 'image');
  });
  try {
    const chunks: Uint8Array[] = [];
    let length = 0;
    while (length <= MAX_IMAGE_BYTES) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, null);
      if (bytesRead === 0) break;
      chunks.push(buffer.subarray(0, bytesRead));
      length += bytesRead;
    }
    return Buffer.concat(chunks);
  } finally {
    await handle.close();
  }
}
