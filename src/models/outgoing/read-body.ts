import type { HttpAnswer } from './open-http.ts';

/**
 * Reads the whole body; calls `onBytes` with the length of each piece.
 *
 * @throws {BodyTooLongError} once it is longer than `maxBytes`; closes the connection then
 * @throws errors of `onBytes`
 */
export async function readBody(
  answer: HttpAnswer,
  maxBytes: number,
  onBytes?: (count: number) => void,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readBoundedBody(answer, maxBytes)) {
    onBytes?.(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Yields the body as it arrives. @throws {BodyTooLongError} once it is longer than `maxBytes` */
export async function* readBoundedBody(
  answer: HttpAnswer,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of answer.body) {
    length += chunk.length;
    if (length > maxBytes) {
      answer.discard();
      throw new BodyTooLongError(maxBytes);
    }
    yield chunk;
  }
}

/** A body beyond the maximum size. */
export class BodyTooLongError extends Error {
  override readonly name = 'BodyTooLongError';

  constructor(maxBytes: number, subject = 'it') {
    const kibibytes = Math.floor(maxBytes / 1024);
    const limitText = kibibytes < 1024 ? `${kibibytes} KiB` : `${Math.floor(kibibytes / 1024)} MiB`;
    super(`${subject} is larger than ${limitText}`);
  }
}
