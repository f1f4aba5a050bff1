import { describeEncodingFault } from '../../../files/read-text.ts';
import { usageError } from '../../core/errors.ts';

/**
 * Decodes UTF-8 and drops a byte order mark. Refuses other encodings, whose text would be garbled.
 */
export async function* decodeUtf8Stream(
  chunks: AsyncIterable<Uint8Array | string>,
  sourceName: string,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes: Uint8Array, options: { readonly stream: boolean }): string => {
    try {
      return decoder.decode(bytes, options);
    } catch {
      throw usageError(`${sourceName} is ${describeEncodingFault(bytes)}`);
    }
  };

  for await (const chunk of chunks) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    yield decode(bytes, { stream: true });
  }

  // Without more to come, an incomplete character is a fault.
  yield decode(new Uint8Array(), { stream: false });
}
