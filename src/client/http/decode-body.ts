import { ProtocolError } from '../errors.ts';
import type { TransportResponse } from '../transport.ts';
import { findHeader } from './parse-response.ts';

/** The content encodings that the client accepts. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/**
 * Decodes an answer and limits it to `maxBytes`, counted after decoding.
 *
 * @throws {ProtocolError} while reading, for an unknown encoding, broken data, or more bytes than
 * allowed
 */
export async function* decodeAnswerBody(
  body: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of encoding === undefined ? body : decodePieces(body, encoding)) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) {
      throw new ProtocolError(`the answer is larger than ${maxBytes} bytes, so it was dropped`);
    }
    yield piece;
  }
}

async function* decodePieces(
  body: AsyncIterable<Uint8Array>,
  encoding: string,
): AsyncGenerator<Uint8Array> {
  const { decodeContent } = await import('../../net/content-encoding.ts');
  yield* decodeContent(body, encoding, message => new ProtocolError(message));
}

/**
 * Reads the whole text of an answer.
 *
 * @throws {ProtocolError} as `decodeAnswerBody` does
 */
export async function readAnswerText(
  response: TransportResponse,
  maxBytes: number,
): Promise<string> {
  const { status: httpStatus, headers, body } = response;
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of decodeAnswerBody(
      body,
      findHeader(headers, 'content-encoding'),
      maxBytes,
    )) {
      pieces.push(piece);
    }
  } catch (error) {
    if (error instanceof ProtocolError) {
      throw new ProtocolError(error.message, { httpStatus, cause: error });
    }
    throw error;
  }

  return Buffer.concat(pieces).toString('utf8');
}
