/** A line of a text, without its line end. */
export interface TextLine {
  readonly text: string;
  /** The line number, from 1. */
  readonly line: number;
}

/**
 * Yields the lines of a text in pieces. Lines end with `\n` or `\r\n`; an empty rest after the last
 * one is not a line.
 */
export async function* splitIntoLines(chunks: AsyncIterable<string>): AsyncGenerator<TextLine> {
  let pendingPieces: string[] = [];
  let line = 0;
  const completeLine = (last: string): TextLine => {
    const text = [...pendingPieces, last].join('');
    pendingPieces = [];
    line += 1;
    return { text: text.endsWith('\r') ? text.slice(0, -1) : text, line };
  };

  for await (const chunk of chunks) {
    const [first = '', ...more] = chunk.split('\n');
    let lineStart = first;
    for (const next of more) {
      yield completeLine(lineStart);
      lineStart = next;
    }
    pendingPieces.push(lineStart);
  }

  if (pendingPieces.some(text => text !== '')) yield completeLine('');
}
