import { createHash } from 'node:crypto';
import { existsSync, type Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import { openReadable } from '../../../files/open-readable.ts';
import { MAX_IMAGE_BYTES } from '../../../wire/index.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import { readStandardInput, readUpTo, toFileFault } from '../read-text.ts';

/** An image to send: a URL, or bytes that are read again each time they are sent. */
export type ImageSource =
  | { readonly kind: 'url'; readonly url: string; readonly name: string }
  | {
      readonly kind: 'bytes';
      readonly name: string;
      /** The absolute path; undefined for bytes that could be read only once. */
      readonly filePath?: string;
      readonly size: number;
      /** Hexadecimal. */
      readonly sha256: string;
      /**
       * Yields the bytes in pieces, each valid until the next.
       *
       * @throws {CliError} USAGE_ERROR if the file has changed since the check
       */
      chunks(): AsyncIterable<Buffer>;
    };

/** Opens the images that a command line, a row or a case names. */
export interface ImageOpener<Image = ImageSource> {
  /** The absolute path of the folder that names are relative to. */
  readonly cwd: string;
  /** @throws {CliError} USAGE_ERROR if the source is not an image */
  open(source: string): Promise<Image>;
}

/** Size of a piece of a file: a multiple of three, so that base64 pieces join. */
const CHUNK_BYTES = 3 * 128 * 1024;

/** Number of bytes that show a file's type. */
const IMAGE_HEAD_BYTES = 4100;

/**
 * Matches the beginnings of PNG, JPEG, GIF and WebP in hexadecimal; the library for other formats
 * loads slowly.
 */
const COMMON_IMAGE_SIGNATURE =
  /^(?:89504e470d0a1a0a.{8}49484452|ffd8ff|474946383[79]61|52494646.{8}57454250)/u;

const URL_SCHEME = /^[a-z][a-z0-9+.-]*:\/\//iu;

/** Returns true if a source is a URL of any kind, not a file. */
export function isImageUrl(source: string): boolean {
  return /^data:/iu.test(source) || URL_SCHEME.test(source);
}

export function createImageOpener(ctx: Context): ImageOpener {
  return { cwd: ctx.cwd, open: source => openImage(ctx, source) };
}

/**
 * Opens an image from a file, an https URL, a data URL or `-` for standard input. Checks it before
 * anything is sent.
 *
 * @throws {CliError} USAGE_ERROR
 */
export async function openImage(ctx: Context, source: string): Promise<ImageSource> {
  if (source === '-') {
    return createMemoryImage(await readStandardInput(ctx, MAX_IMAGE_BYTES), 'standard input');
  }
  if (isImageUrl(source)) {
    const { readImageUrl } = await import('./image-url.ts');
    const urlOrBytes = readImageUrl(source);
    return typeof urlOrBytes === 'string'
      ? { kind: 'url', url: urlOrBytes, name: urlOrBytes }
      : createMemoryImage(urlOrBytes, 'the data URL');
  }
  return openImageFile(ctx, source);
}

async function openImageFile(ctx: Context, source: string): Promise<ImageSource> {
  const filePath = path.resolve(ctx.cwd, source);

  const explainFileFault = async <T>(reading: Promise<T>): Promise<T> =>
    reading.catch((error: unknown) => {
      throw toFileFault(error, source === '' ? '(an empty name)' : source, 'image');
    });

  if (source.startsWith('@') && !existsSync(filePath)) {
    throw usageError(`image: ${source} does not exist`, 'Give the name of the image without @.');
  }

  const stats: Stats = await explainFileFault(stat(filePath));
  if (stats.isDirectory()) throw usageError(`image ${source} is a directory`);

  if (!stats.isFile()) {
    // A pipe or a device has no size and can be read only once.
    const bytes = readUpTo(openReadable(filePath), MAX_IMAGE_BYTES, ctx.signal);
    return createMemoryImage(await explainFileFault(bytes), source);
  }

  checkSize(stats.size, source);
  const { size, sha256, head } = await explainFileFault(summariseFile(filePath));
  checkSize(size, source);
  await checkContent(head, source);

  return {
    kind: 'bytes',
    name: source,
    filePath,
    size,
    sha256,
    chunks: () => readUnchangedBytes(filePath, source, sha256),
  };
}

interface FileSummary {
  readonly size: number;
  readonly sha256: string;
  /** The first bytes, which show the file's type. */
  readonly head: Buffer;
}

/** Reads a file once, without holding it in memory. */
async function summariseFile(file: string): Promise<FileSummary> {
  const hash = createHash('sha256');
  let size = 0;
  let head = Buffer.alloc(0);
  for await (const chunk of readFileChunks(file)) {
    hash.update(chunk);
    size += chunk.length;
    if (head.length < IMAGE_HEAD_BYTES) {
      head = Buffer.concat([head, chunk.subarray(0, IMAGE_HEAD_BYTES - head.length)]);
    }
  }

  return { size, sha256: hash.digest('hex'), head };
}

/** Reads a file again, and throws at its end if it has changed since the check. */
async function* readUnchangedBytes(
  file: string,
  source: string,
  sha256: string,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of readFileChunks(file)) {
      hash.update(chunk);
      yield chunk;
    }
  } catch (error) {
    throw toFileFault(error, source, 'image');
  }

  if (hash.digest('hex') === sha256) return;
  throw usageError(
    `image ${source} changed while it was being sent`,
    'Nothing was started. Run it again.',
  );
}

/** Yields a file in pieces; each is overwritten by the next. */
async function* readFileChunks(file: string): AsyncGenerator<Buffer> {
  const handle = await open(file);
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  try {
    const readNext = async (): Promise<number> =>
      (await handle.read(buffer, 0, CHUNK_BYTES, null)).bytesRead;
    for (let length = await readNext(); length > 0; length = await readNext()) {
      yield buffer.subarray(0, length);
    }
  } finally {
    await handle.close();
  }
}

/** Reads a whole image into memory. @throws {CliError} like `chunks` */
export async function readImageBytes(
  image: Extract<ImageSource, { kind: 'bytes' }>,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of image.chunks()) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

function hashImage(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function createMemoryImage(
  bytes: Buffer,
  name: string,
): Promise<Extract<ImageSource, { kind: 'bytes' }>> {
  checkSize(bytes.length, name);
  await checkContent(bytes, name);
  return {
    kind: 'bytes',
    name,
    size: bytes.length,
    sha256: hashImage(bytes),
    chunks: () => streamBytes(bytes),
  };
}

async function* streamBytes(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** Refuses an image that is empty or larger than the service takes. */
function checkSize(size: number, name: string): void {
  if (size === 0) throw usageError(`image ${name} is empty`);
  if (size > MAX_IMAGE_BYTES) {
    const mebibytes = (size / 1024 / 1024).toFixed(1);
    throw usageError(
      `image ${name} is ${mebibytes} MiB; the service takes at most ${MAX_IMAGE_BYTES / 1024 / 1024} MiB per image`,
    );
  }
}

/** Refuses bytes that are not an image, whatever the file's name. */
async function checkContent(bytes: Buffer, name: string): Promise<void> {
  if (COMMON_IMAGE_SIGNATURE.test(bytes.toString('hex', 0, 16))) return;

  const { fileTypeFromBuffer } = await import('file-type');
  const type = await fileTypeFromBuffer(bytes.subarray(0, IMAGE_HEAD_BYTES));
  if (type?.mime.startsWith('image/') === true) return;

  throw usageError(
    type === undefined
      ? `image ${name} is not an image`
      : `image ${name} is ${type.mime}, not an image`,
    'Use a PNG, JPEG, WebP, GIF or similar file.',
  );
}
