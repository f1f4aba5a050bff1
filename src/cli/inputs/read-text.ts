import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { openReadable } from '../../files/open-readable.ts';
import { describeEncodingFault, isUtf16 } from '../../files/read-text.ts';
import { getErrorCode } from '../../utils/error-utils.ts';
import type { Context } from '../context.ts';
import { type CliError, usageError } from '../core/errors.ts';

/**
 * Reads the exact text of a file. Refuses a file that is missing, not valid UTF-8 or larger than
 * `maxBytes` bytes.
 *
 * @param origin the flag or command that names the file, for messages
 */
export async function readTextFile(
  file: string,
  cwd: string,
  origin: string,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<string> {
  if (file === '') {
    throw usageError(
      `${origin} names no file after the @`,
      'Write @@ for a value that starts with @.',
    );
  }
  const absolutePath = path.resolve(cwd, file);
  try {
    if (Number.isFinite(maxBytes) && (await stat(absolutePath)).size > maxBytes) {
      throw usageError(`${origin}: ${file} is larger than ${maxBytes / 1024 / 1024} MiB`);
    }
    return requireUtf8Text(await buffer(openReadable(absolutePath)), `${origin}: ${file}`);
  } catch (error) {
    throw toFileFault(error, file, origin);
  }
}

const INPUTS_ARE_TEXT_HINT =
  'Inputs are text. Give an image by its path, without an @: with -i or --image, or under images in a test file.';

/** Decodes UTF-8 exactly, including a byte order mark. */
export function requireUtf8Text(bytes: Uint8Array, sourceName: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const message = `${sourceName} is ${describeEncodingFault(bytes)}`;
    throw isUtf16(bytes) ? usageError(message) : usageError(message, INPUTS_ARE_TEXT_HINT);
  }
}

/**
 * Returns a one-line error that explains why a file can't be used.
 *
 * @param origin the flag or command that names the file
 * @throws the error itself if it is not one of the file system
 */
export function toFileFault(error: unknown, file: string, origin: string): CliError {
  const code = getErrorCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return usageError(`${origin}: ${file} does not exist`);
  }
  if (code === 'EISDIR') return usageError(`${origin}: ${file} is a directory`);

  if (code === 'EACCES' || code === 'EPERM') {
    return usageError(`${origin}: ${file} can't be read: permission denied`);
  }

  if (code === undefined) throw error;
  return usageError(`${origin}: ${file} can't be read (${code})`);
}

/** Reads standard input to its end, like `readUpTo`. */
export function readStandardInput(
  ctx: Context,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<Buffer> {
  return readUpTo(ctx.io.stdin.stream, maxBytes, ctx.signal);
}

/** Reads a stream to its end. Stops if it exceeds `limit` bytes or the signal is aborted. */
export async function readUpTo(
  stream: Readable,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  signal.throwIfAborted();
  const destroyStream = (): unknown => stream.destroy(signal.reason as Error);
  signal.addEventListener('abort', destroyStream, { once: true });

  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array | string>) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      chunks.push(bytes);
      length += bytes.length;
      if (length > maxBytes) break;
    }
  } finally {
    signal.removeEventListener('abort', destroyStream);
  }

  return Buffer.concat(chunks);
}
