import { encodingFault } from '../../../files/read-text.ts';
import { usageError } from '../../errors.ts';

/** A line of a text, without its line end. */
export interface TextLine {
  readonly text: string;
  /** The line number, from 1. */
  readonly line: number;
}

/** Yields the lines of a text in pieces. Lines end with `\n` or `\r\n`; an empty rest after the last one is not a line. */
export async function* textLines(chunks: AsyncIterable<string>): AsyncGenerator<TextLine> {
  let pending: string[] = [];
  let line = 0;
  const take = (last: string): TextLine => {
    const text = [...pending, last].join('');
    pending = [];
    line += 1;
    return { text: text.endsWith('\r') ? text.slice(0, -1) : text, line };
  };
  for await (const chunk of chunks) {
    const [first = '', ...more] = chunk.split('\n');
    let open = first;
    for (const next of more) {
      yield take(open);
      open = next;
    }
    pending.push(open);
  }
  if (pending.some(text => text !== '')) yield take('');
}

/** Decodes UTF-8 and drops a byte order mark. Refuses other encodings, which would arrive garbled. */
export async function* decodeUtf8Stream(
  chunks: AsyncIterable<Uint8Array | string>,
  what: string,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes: Uint8Array = new Uint8Array(), more = false): string => {
    try {
      return decoder.decode(bytes, { stream: more });
    } catch {
      throw usageError(`${what} is ${encodingFault(bytes)}`);
    }
  };
  for await (const chunk of chunks) {
    yield decode(typeof chunk === 'string' ? Buffer.from(chunk) : chunk, true);
  }
  yield decode();
}
