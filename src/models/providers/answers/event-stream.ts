import { TooLong } from '../../outgoing/read-body.ts';

const MAX_LINE_BYTES = 8 * 1024 * 1024;

/**
 * Yields the data of server-sent events as they arrive: for each piece of the body, the events that end in it. Takes
 * linear time, however the body is cut into pieces.
 *
 * @throws {TooLong} if a line is longer than the maximum
 */
export async function* eventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
  const lines = new Lines();
  let data: string[] = [];
  const eventsIn = (texts: readonly string[]): string[] => {
    const events: string[] = [];
    for (const line of texts) {
      if (line === '' && data.length > 0) {
        events.push(data.join('\n'));
        data = [];
      } else if (line.startsWith('data:')) {
        data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
      }
    }
    return events;
  };
  for await (const chunk of body) yield eventsIn(lines.add(chunk));
  // Some servers leave out the empty line after the last event. A truncated event fails to parse later.
  const rest = eventsIn([...lines.rest(), '']);
  if (rest.length > 0) yield rest;
}

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;

/** Cuts a body into lines, which end with CR, LF or both. Leaves comments out. */
class Lines {
  #pieces: Uint8Array[] = [];
  #length = 0;
  #afterCr = false;

  /** Adds a piece of the body; returns the lines that end in it. */
  add(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let start = this.#afterCr && chunk[0] === LF ? 1 : 0;
    if (chunk.length > 0) this.#afterCr = false;
    for (let at = start; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte !== LF && byte !== CR) continue;
      const isComment = this.#length === 0 && chunk[start] === COLON;
      if (!isComment) lines.push(this.#line(chunk.subarray(start, at)));
      if (byte === CR && chunk[at + 1] === LF) at += 1;
      else this.#afterCr = byte === CR && at === chunk.length - 1;
      start = at + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
    return lines;
  }

  /** Returns the last line if the body does not end with a line break. */
  rest(): string[] {
    return this.#length === 0 ? [] : [this.#line(new Uint8Array())];
  }

  #line(end: Uint8Array): string {
    // A body may consist of line breaks alone, millions of them.
    if (this.#length + end.length === 0) return '';
    const bytes = this.#length === 0 ? end : Buffer.concat([...this.#pieces, end]);
    this.#pieces = [];
    this.#length = 0;
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  }

  #keep(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length > MAX_LINE_BYTES) throw new TooLong(MAX_LINE_BYTES, 'a line of its stream');
  }
}
