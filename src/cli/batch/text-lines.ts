/** A line of a text, without its end. */
export interface TextLine {
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

/** The lines of a text that comes in pieces; `\n` and `\r\n` end one. An empty rest after the last end is no line. */
export async function* textLines(chunks: AsyncIterable<string>): AsyncGenerator<TextLine> {
  let held: string[] = [];
  let line = 0;
  const take = (last: string): TextLine => {
    const text = [...held, last].join('');
    held = [];
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
    held.push(open);
  }
  if (held.some(text => text !== '')) {
    yield take('');
  }
}
