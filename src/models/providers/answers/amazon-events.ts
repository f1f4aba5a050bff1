import { EventStreamCodec } from '@smithy/eventstream-codec';
import { fromUtf8, toUtf8 } from '@smithy/util-utf8';
import { isJsonObject, readTextAt } from '../../../utils/bounded-json.ts';
import { BodyTooLongError } from '../../outgoing/read-body.ts';

const MAX_EVENT_BYTES = 8 * 1024 * 1024;

/** Minimum length of an event, in bytes: lengths and checksums alone take this much. */
const MIN_EVENT_BYTES = 16;

/** The bytes at the start of an event that hold its length. */
const LENGTH_BYTES = 4;

/**
 * Decodes a stream in Amazon's binary format into JSON events. Events of Claude come out as
 * Anthropic sends them, events of Converse as an object under their type. Yields each in a list,
 * as `readEventData` yields the events of other providers.
 *
 * @throws {BodyTooLongError} if an event is longer than the maximum
 * @throws {Error} if an event is damaged
 */
export async function* decodeAmazonEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly string[]> {
  const codec = new EventStreamCodec(toUtf8, fromUtf8);
  for await (const bytes of splitIntoEvents(body)) {
    const { headers, body: payload } = codec.decode(bytes);
    const text = toUtf8(payload);
    const isEvent = headers[':message-type']?.value === 'event';
    const type = String(
      headers[':event-type']?.value ?? headers[':exception-type']?.value ?? 'error',
    );

    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    if (!isEvent) {
      const message =
        readTextAt(value, 'message') ?? String(headers[':error-message']?.value ?? text);
      yield [JSON.stringify({ error: { type, message } })];
    } else if (type === 'chunk' && isJsonObject(value) && typeof value['bytes'] === 'string') {
      yield [Buffer.from(value['bytes'], 'base64').toString('utf8')];
    } else {
      yield [JSON.stringify({ [type]: value })];
    }
  }
}

/** Cuts a stream into events, each of which begins with its own length. */
async function* splitIntoEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let bufferedBytes = 0;
  let wantedBytes = LENGTH_BYTES;
  for await (const chunk of body) {
    pieces.push(chunk);
    bufferedBytes += chunk.length;
    if (bufferedBytes < wantedBytes) continue;

    let bytes: Buffer = Buffer.concat(pieces);
    wantedBytes = readEventLength(bytes);
    while (bytes.length >= wantedBytes) {
      yield bytes.subarray(0, wantedBytes);
      bytes = bytes.subarray(wantedBytes);
      wantedBytes = readEventLength(bytes);
    }

    pieces = bytes.length === 0 ? [] : [bytes];
    bufferedBytes = bytes.length;
  }

  if (bufferedBytes > 0) throw new Error('the stream ends in the middle of an event');
}

/** Returns the length of the event that bytes begin with; while it is incomplete, that of a length. */
function readEventLength(bytes: Buffer): number {
  if (bytes.length < LENGTH_BYTES) return LENGTH_BYTES;
  const length = bytes.readUInt32BE(0);
  if (length > MAX_EVENT_BYTES) {
    throw new BodyTooLongError(MAX_EVENT_BYTES, 'an event of its stream');
  }
  if (length < MIN_EVENT_BYTES) throw new Error('an event of its stream has no length');
  return length;
}
