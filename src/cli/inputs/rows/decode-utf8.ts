import { describeEncodingFault } from '../../../files/read-text.ts';
import { usageError } from '../../core/errors.ts';

/**
 * Decodes UTF-8 and drops a byte order mark. Refuses other encodings, which would arrive garbled.
 */
export async function* decodeUtf8Stream(
  chunks: AsyncIterable<Uint8Array | string>,
  what: string,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes: Uint8Array = new Uint8Array(), more = false): string => {
    try {
      return decoder.decode(bytes, { stream: more });
    } catch {
      throw usageError(`${what} is ${describeEncodingFault(bytes)}`);
    }
  };

  for await (const chunk of chunks) {
    yield decode(typeof chunk === 'string' ? Buffer.from(chunk) : chunk, true);
  }

  yield decode();
}
