import { usageError } from '../../errors.ts';

/** A line of a text, without its end. */
export interface TextLine {
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

/** The lines of a text that comes in pieces; `\n` and `\r\n` end one. An empty rest after the last end is not a line. */
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

/** Bytes as text, without a byte order mark. Refuses what is not UTF-8: other encodings would arrive garbled. */
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
