import {
  isJsonObject,
  JsonLimitError,
  MAX_JSON,
  parseBoundedJson,
} from '../../../utils/bounded-json.ts';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import type { EngineJob } from '../../engine.ts';
import type { HttpAnswer } from '../../outgoing/open-http.ts';
import { BodyTooLongError, readBody, readBoundedBody } from '../../outgoing/read-body.ts';
import { MAX_PROVIDER_ANSWER_BYTES } from '../send-request.ts';
import { describeErrorBody, findReason, shortenReason } from './error-body.ts';
import { readEventData } from './event-stream.ts';
import type { ModelAnswer } from './model-answer.ts';
import { type FaultAdvice, ProviderFault } from './provider-fault.ts';

/** Limits for the JSON of an answer or of one event. */
const ANSWER_BOUNDS = { ...MAX_JSON, values: 100_000 };
const BODY_PIECE_BYTES = 64 * 1024;

/**
 * Maximum size of a body that is joined from its pieces, in bytes. A larger one is read into memory
 * that can grow, which takes the system far longer to provide.
 */
const MAX_COPIED_BYTES = 1024 * 1024;

/**
 * Reads the body of a successful response into an answer as it arrives. Decides by the response if
 * it is a stream, not by the request: some providers stream without being asked, others never do.
 *
 * @throws {ProviderFault} if the body is an error, a web page or not JSON, or the connection ends
 * early; the answer then holds what had arrived
 */
export async function readAnswer(
  response: HttpAnswer,
  answer: ModelAnswer,
  onText: (piece: string) => void,
): Promise<void> {
  try {
    const type = response.headers['content-type'] ?? '';
    if (/^image\//i.test(type)) {
      answer.images.push({ bytes: await readBody(response, MAX_PROVIDER_ANSWER_BYTES) });
    } else if (/^text\/event-stream/i.test(type)) {
      await readEvents(
        readEventData(readBoundedBody(response, MAX_PROVIDER_ANSWER_BYTES)),
        answer,
        onText,
      );
    } else if (/^application\/vnd\.amazon\.eventstream/i.test(type)) {
      const { decodeAmazonEvents } = await import('./amazon-events.ts');
      await readEvents(
        decodeAmazonEvents(readBoundedBody(response, MAX_PROVIDER_ANSWER_BYTES)),
        answer,
        onText,
      );
    } else {
      await readUnstreamedBody(await readWholeBody(response), answer, onText);
    }
  } catch (error) {
    throw toReadingFault(error);
  }
}

/**
 * Reads the whole body. A large one is read into memory that grows in place, so that it is never
 * held twice.
 *
 * @throws {BodyTooLongError} once it is longer than an answer may be
 */
async function readWholeBody(response: HttpAnswer): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  let largeBody: ArrayBuffer | undefined;
  for await (const chunk of readBoundedBody(response, MAX_PROVIDER_ANSWER_BYTES)) {
    pieces.push(chunk);
    length += chunk.length;
    if (length <= MAX_COPIED_BYTES) continue;
    largeBody ??= new ArrayBuffer(0, { maxByteLength: MAX_PROVIDER_ANSWER_BYTES });
    appendPieces(largeBody, pieces.splice(0));
  }

  return largeBody ? Buffer.from(largeBody) : Buffer.concat(pieces);
}

function appendPieces(body: ArrayBuffer, pieces: readonly Uint8Array[]): void {
  for (const piece of pieces) {
    const start = body.byteLength;
    body.resize(start + piece.length);
    new Uint8Array(body, start).set(piece);
  }
}

/**
 * Reads a JSON object, or a stream that does not say that it is one. Releases the body once it is
 * read.
 */
async function readUnstreamedBody(
  body: Buffer,
  answer: ModelAnswer,
  onText: (piece: string) => void,
): Promise<void> {
  const beginning = body.toString('utf8', 0, 100);
  if (/^\s*(?:data|event|id|retry)?:/.test(beginning)) {
    return await readEvents(readEventData(splitIntoChunks(body)), answer, onText);
  }
  const objects = parseObjects(decodeAndRelease(body));
  for (const object of objects) addObject(object, answer, onText);
}

/**
 * Decodes a body and releases the memory of a large one at once, not when the garbage collector
 * gets to it.
 */
function decodeAndRelease(body: Buffer): string {
  const text = body.toString('utf8');
  const { buffer } = body;
  if (buffer instanceof ArrayBuffer && buffer.resizable) buffer.resize(0);
  return text;
}

/**
 * Adds an object of a response to the answer. Its usage counts even if it holds an error.
 *
 * @throws {ProviderFault} if it is an error
 */
function addObject(
  object: Readonly<Record<string, unknown>>,
  answer: ModelAnswer,
  onText: (piece: string) => void,
): void {
  onText(answer.add(object));
  const { error } = object;
  if (error === undefined || error === null || error === '') return;
  const reason = shortenReason(findReason(error) ?? 'it gave no reason');
  throw new ProviderFault(`answered with an error: ${reason}`, { mayHaveCost: true });
}

/** Yields a body in pieces, so that the events of a stream are not all held at once. */
async function* splitIntoChunks(body: Buffer): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < body.length; start += BODY_PIECE_BYTES) {
    yield body.subarray(start, start + BODY_PIECE_BYTES);
  }
}

async function readEvents(
  eventLists: AsyncIterable<readonly string[]>,
  answer: ModelAnswer,
  onText: (piece: string) => void,
): Promise<void> {
  for await (const events of eventLists) {
    for (const data of events) {
      if (data.trim() === '[DONE]') {
        answer.endStream();
      } else {
        addObject(parseEvent(data), answer, onText);
      }
    }
  }
  if (!answer.isEnded) throw answer.errorFault ?? createIncompleteAnswerFault();
}

function parseEvent(data: string): Readonly<Record<string, unknown>> {
  let event: unknown;
  try {
    event = parseBoundedJson(data, ANSWER_BOUNDS);
  } catch (error) {
    if (error instanceof JsonLimitError) {
      throw createUnreadableAnswerFault(`an event in it ${error.message}`);
    }
    throw createIncompleteAnswerFault();
  }

  if (isJsonObject(event)) return event;
  throw createUnreadableAnswerFault(`an event in it is not a JSON object: ${shortenReason(data)}`);
}

/** Returns the fault for an error while reading an answer, which may have been paid for already. */
function toReadingFault(error: unknown): unknown {
  if (error instanceof ProviderFault) return error;
  if (error instanceof BodyTooLongError) return createUnreadableAnswerFault(error.message);
  if (error instanceof SyntaxError) return createUnreadableAnswerFault(getErrorMessage(error));
  return createIncompleteAnswerFault();
}

function createIncompleteAnswerFault(): ProviderFault {
  return new ProviderFault('ended its answer before it was complete', {
    mayHaveCost: true,
    advice: 'run it again',
  });
}

/** Returns the objects of a body. Gemini sends a list of pieces if it is not asked for events. */
function parseObjects(text: string): Readonly<Record<string, unknown>>[] {
  const value = parseProviderJson(text);
  const objects: unknown[] = Array.isArray(value) ? value : [value];
  if (objects.length === 0 || !objects.every(isJsonObject)) throw createUnreadableBodyFault(text);
  return objects;
}

function parseProviderJson(text: string): unknown {
  try {
    return parseBoundedJson(text, ANSWER_BOUNDS);
  } catch (error) {
    throw error instanceof JsonLimitError
      ? createUnreadableAnswerFault(`it ${error.message}`)
      : createUnreadableBodyFault(text);
  }
}

function createUnreadableBodyFault(text: string): ProviderFault {
  const advice: FaultAdvice = (_, address) => `check ${address}`;
  const message =
    text.trim() === '' ? 'sent an empty answer' : `answered ${describeErrorBody(text)}`;
  if (/^\s*(?:<|$)/.test(text)) return new ProviderFault(message, { advice, mayHaveCost: true });
  const start = text.trim().slice(0, 80);
  return createUnreadableAnswerFault(`it is not a JSON object: ${start}`, advice);
}

function createUnreadableAnswerFault(reason: string, advice?: FaultAdvice): ProviderFault {
  return new ProviderFault(`answered with something that can't be read: ${reason}`, {
    mayHaveCost: true,
    ...(advice !== undefined && { advice }),
  });
}

/**
 * Returns a listener that passes whole characters on: servers sometimes split one over two pieces.
 */
export function createCharacterListener(onText: EngineJob['onText']): (piece: string) => void {
  let remainder = '';
  return piece => {
    const text = remainder + piece;
    const endsInHalf = /[\uD800-\uDBFF]$/.test(text);
    remainder = endsInHalf ? text.slice(-1) : '';
    const completeText = endsInHalf ? text.slice(0, -1) : text;
    if (completeText !== '') onText?.(completeText);
  };
}
