import { usageError } from '../errors.ts';

/** Bytes as text, without a byte order mark. Refuses what is no UTF-8: other encodings would arrive garbled. */
export async function* decodeUtf8Stream(
  chunks: AsyncIterable<Uint8Array | string>,
  what: string,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes?: Uint8Array): string => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
    } catch {
      throw usageError(`${what} is not valid UTF-8 text`, 'save it as UTF-8, then try again');
    }
  };
  for await (const chunk of chunks) {
    yield decode(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  }
  yield decode();
}
