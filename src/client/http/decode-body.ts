import { pipeline, type Transform } from 'node:stream';
import { ProtocolError } from '../errors.ts';
import type { TransportResponse } from '../transport.ts';
import { firstHeader } from './parse-response.ts';

/** The content encodings that the client accepts. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

// Encodings may be stacked, but more than two serve no purpose.
const MAX_ENCODINGS = 2;

/**
 * Undoes the content encodings of an answer and limits it to `maxBytes`, counted after decoding.
 *
 * @throws {ProtocolError} while reading, for an unknown encoding, broken data, or more bytes than allowed
 */
export async function* decodedBody(
  body: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let pieces = body;
  for (const name of encodings(encoding)) pieces = decodedOnce(pieces, name);
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) {
      throw new ProtocolError(`the answer is larger than ${maxBytes} bytes, so it was dropped`);
    }
    yield piece;
  }
}

/**
 * Reads the whole text of an answer.
 *
 * @throws {ProtocolError} as `decodedBody` does
 */
export async function decodedText(response: TransportResponse, maxBytes: number): Promise<string> {
  const { status: httpStatus, headers, body } = response;
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of decodedBody(body, firstHeader(headers, 'content-encoding'), maxBytes)) {
      pieces.push(piece);
    }
  } catch (error) {
    if (error instanceof ProtocolError) throw new ProtocolError(error.message, { httpStatus, cause: error });
    throw error;
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Returns the encodings in the order in which to undo them. */
function encodings(header = ''): string[] {
  const names = header
    .toLowerCase()
    .split(',')
    .map(name => name.trim());
  const applied = names.filter(name => name !== '' && name !== 'identity');
  if (applied.length > MAX_ENCODINGS) throw new ProtocolError('the answer is encoded too many times');
  return applied.reverse();
}

async function* decodedOnce(body: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const encoded = body[Symbol.asyncIterator]();
  const first = await encoded.next();
  if (first.done) return;
  const decoder = await decoderFor(name, first.value);
  let fault: { readonly error: unknown } | undefined;
  const source = async function* (): AsyncGenerator<Uint8Array> {
    yield first.value;
    try {
      yield* { [Symbol.asyncIterator]: () => encoded };
    } catch (error) {
      fault = { error };
      throw error;
    }
  };
  pipeline(source, decoder, () => {});
  try {
    yield* decoder as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (fault) throw fault.error;
    throw new ProtocolError('the answer is not encoded as its headers say', { cause: error });
  } finally {
    decoder.destroy();
  }
}

async function decoderFor(name: string, first: Uint8Array): Promise<Transform> {
  const zlib = await import('node:zlib');
  if (name === 'gzip' || name === 'x-gzip') return zlib.createGunzip();
  if (name === 'br') return zlib.createBrotliDecompress();
  if (name !== 'deflate') {
    throw new ProtocolError(`the answer is encoded as ${name.slice(0, 40)}, which was not requested`);
  }
  // Some servers send raw deflate data under this name.
  return ((first[0] ?? 0) & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw();
}
