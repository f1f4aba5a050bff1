import { pipeline, type Transform } from 'node:stream';

// Encodings may be stacked, but more than two serve no purpose.
const MAX_ENCODINGS = 2;

/** The compression method in the first byte of zlib's header (RFC 1950, section 2.2). */
const ZLIB_DEFLATE = 8;

/** An answer that can't be decoded. */
class EncodingFault extends Error {}

/**
 * Decodes an answer as it arrives.
 *
 * @throws the error that `createError` makes, while reading, for an unknown encoding or broken data
 */
export async function* decodeContent(
  body: AsyncIterable<Uint8Array>,
  encoding: string,
  createError: (message: string) => Error,
): AsyncGenerator<Uint8Array> {
  try {
    let pieces = body;
    for (const name of parseEncodings(encoding)) pieces = decodeLayer(pieces, name);
    yield* pieces;
  } catch (error) {
    throw error instanceof EncodingFault ? createError(error.message) : error;
  }
}

/** Returns the encodings in the order in which to undo them. */
function parseEncodings(header: string): string[] {
  const names = header
    .toLowerCase()
    .split(',')
    .map(name => name.trim());
  const applied = names.filter(name => name !== '' && name !== 'identity');
  if (applied.length > MAX_ENCODINGS) {
    throw new EncodingFault('the answer is encoded too many times');
  }

  return applied.reverse();
}

async function* decodeLayer(
  body: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<Uint8Array> {
  const encodedPieces = body[Symbol.asyncIterator]();
  const firstPiece = await encodedPieces.next();
  if (firstPiece.done) return;

  const decoder = await createDecoder(name, firstPiece.value);
  let sourceFault: { readonly error: unknown } | undefined;
  const readSource = async function* (): AsyncGenerator<Uint8Array> {
    yield firstPiece.value;
    try {
      yield* { [Symbol.asyncIterator]: () => encodedPieces };
    } catch (error) {
      sourceFault = { error };
      throw error;
    }
  };

  pipeline(readSource, decoder, () => {});

  try {
    yield* decoder as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (sourceFault) throw sourceFault.error;
    throw new EncodingFault('the answer is not encoded as its headers say', { cause: error });
  } finally {
    decoder.destroy();
  }
}

async function createDecoder(name: string, firstPiece: Uint8Array): Promise<Transform> {
  const zlib = await import('node:zlib');
  if (name === 'gzip' || name === 'x-gzip') return zlib.createGunzip();
  if (name === 'br') return zlib.createBrotliDecompress();

  if (name !== 'deflate') {
    throw new EncodingFault(
      `the answer is encoded as ${name.slice(0, 40)}, which was not requested`,
    );
  }

  // Some servers send raw deflate data under this name, without zlib's header (RFC 1950).
  const compressionMethod = (firstPiece[0] ?? 0) & 0x0f;
  return compressionMethod === ZLIB_DEFLATE ? zlib.createInflate() : zlib.createInflateRaw();
}
