import { BodyTooLongError } from '../../outgoing/read-body.ts';

const MAX_LINE_BYTES = 8 * 1024 * 1024;

/**
 * Yields the data of server-sent events as they arrive: for each piece of the body, the events that
 * end in it. Takes linear time, however the body is cut into pieces.
 *
 * @throws {BodyTooLongError} if a line is longer than the maximum
 */
export async function* readEventData(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly string[]> {
  const events = new EventParser();
  for await (const chunk of body) yield events.add(chunk);
  const lastEvents = events.end();
  if (lastEvents.length > 0) yield lastEvents;
}

/** Collects the data of events from a body. */
class EventParser {
  readonly #lines = new LineSplitter();
  /** The data of the current event, line by line. */
  #data: string[] = [];

  /** Adds a piece of the body; returns the data of the events that end in it. */
  add(chunk: Uint8Array): string[] {
    return this.#parseEvents(this.#lines.add(chunk));
  }

  /**
   * Ends the body. Some servers leave out the empty line after the last event; a truncated event
   * fails to parse later.
   */
  end(): string[] {
    return this.#parseEvents([...this.#lines.end(), '']);
  }

  #parseEvents(lines: readonly string[]): string[] {
    const events: string[] = [];
    for (const line of lines) {
      if (line === '' && this.#data.length > 0) {
        events.push(this.#data.join('\n'));
        this.#data = [];
      } else if (line.startsWith('data:')) {
        this.#data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
      }
    }
    return events;
  }
}

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;

/** Cuts a body into lines, which end with CR, LF or both. Leaves comments out. */
class LineSplitter {
  /** The beginning of the current line, in pieces. */
  #pieces: Uint8Array[] = [];
  #length = 0;
  /**
   * True if the last piece ended with CR, so that an LF at the start of the next one belongs to it.
   */
  #isAfterCr = false;

  /** Adds a piece of the body; returns the lines that end in it. */
  add(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let start = this.#isAfterCr && chunk[0] === LF ? 1 : 0;
    if (chunk.length > 0) this.#isAfterCr = false;

    for (let index = start; index < chunk.length; index += 1) {
      const byte = chunk[index];
      if (byte !== LF && byte !== CR) continue;

      const isComment = this.#length === 0 && chunk[start] === COLON;
      if (!isComment) lines.push(this.#endLine(chunk.subarray(start, index)));

      if (byte === CR && chunk[index + 1] === LF) {
        index += 1;
      } else {
        this.#isAfterCr = byte === CR && index === chunk.length - 1;
      }

      start = index + 1;
    }

    if (start < chunk.length) this.#buffer(chunk.subarray(start));
    return lines;
  }

  /** Returns the last line if the body does not end with a line break. */
  end(): string[] {
    return this.#length === 0 ? [] : [this.#endLine(new Uint8Array())];
  }

  #endLine(end: Uint8Array): string {
    // A body may consist of line breaks alone, millions of them.
    if (this.#length + end.length === 0) return '';
    const bytes = this.#length === 0 ? end : Buffer.concat([...this.#pieces, end]);
    this.#pieces = [];
    this.#length = 0;
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  }

  #buffer(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length > MAX_LINE_BYTES) {
      throw new BodyTooLongError(MAX_LINE_BYTES, 'a line of its stream');
    }
  }
}
