import { TooLong } from '../outgoing/request.ts';

/** Longest line of an event stream, in bytes. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;

/**
 * The data of each event of a stream of server-sent events, as it comes. Takes linear time, whatever the pieces of the
 * body are like.
 *
 * @throws {TooLong} for a line beyond the bound
 */
export async function* eventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let data: string[] = [];
  for await (const line of linesOf(body)) {
    if (line === '' && data.length > 0) {
      yield data.join('\n');
      data = [];
    } else if (line.startsWith('data:')) {
      data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
    }
  }
  // An event without the empty line after it broke off; some servers leave that line out after their last one.
  if (data.length > 0) yield data.join('\n');
}

const LF = 0x0a;
const CR = 0x0d;

/** Lines end with CR, LF or both. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  let afterCr = false;
  for await (const chunk of body) {
    let start: number = afterCr && chunk[0] === LF ? 1 : 0;
    if (chunk.length > 0) afterCr = false;
    for (let at: number = start; at < chunk.length; at += 1) {
      const byte: number | undefined = chunk[at];
      if (byte !== LF && byte !== CR) continue;
      yield lineOf([...pieces, chunk.subarray(start, at)]);
      pieces = [];
      length = 0;
      if (byte === CR && chunk[at + 1] === LF) at += 1;
      else afterCr = byte === CR && at === chunk.length - 1;
      start = at + 1;
    }
    if (start >= chunk.length) continue;
    pieces.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > MAX_LINE_BYTES) throw new TooLong(MAX_LINE_BYTES, 'a line of its stream');
  }
  if (pieces.length > 0) yield lineOf(pieces);
}

function lineOf(pieces: readonly Uint8Array[]): string {
  return Buffer.concat(pieces).toString('utf8');
}
