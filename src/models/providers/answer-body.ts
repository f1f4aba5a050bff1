import { messageOf } from '../../files/error-utils.ts';
import { isJsonObject, JsonPastBound, parseBoundedJson } from '../../wire/bounded-json.ts';
import type { EngineJob } from '../engine.ts';
import { TooLong } from '../outgoing/request.ts';
import { inOneLine, isClientError, ProviderFault, reasonOf } from './refusal.ts';

/** Most values in an answer. */
const MAX_VALUES = 100_000;

/**
 * The JSON objects of an answer: one, or the events of a stream as they come. What a server was asked for does not
 * matter: some stream without being asked, others never do.
 *
 * @param eventsOf reads the events of a streamed answer, as the client of the interface does
 * @param isLast whether an event is one that a whole answer ends with
 * @throws {ProviderFault} for an `error` in place of an answer, for a web page, for what is not JSON, and if the
 *   connection ends before the answer does
 */
export async function* answerObjects(
  response: Response,
  eventsOf: (response: Response) => AsyncIterable<unknown>,
  isLast: (event: unknown) => boolean,
): AsyncGenerator<Record<string, unknown>> {
  try {
    if (/^text\/event-stream/i.test(response.headers.get('content-type') ?? '')) {
      yield* wholeStream(eventsOf(response), isLast);
      return;
    }
    const text = await response.text();
    if (/^\s*(?:data|event|id|retry)?:/.test(text)) yield* wholeStream(eventsOf(new Response(text)), isLast);
    else yield checkedObject(text);
  } catch (error) {
    throw faultOf(error);
  }
}

async function* wholeStream(
  events: AsyncIterable<unknown>,
  isLast: (event: unknown) => boolean,
): AsyncGenerator<Record<string, unknown>> {
  let ended = false;
  for await (const event of events) {
    if (!isJsonObject(event)) throw unreadable(JSON.stringify(event));
    ended ||= isLast(event);
    yield event;
  }
  if (!ended) throw brokenOff();
}

/** What went wrong while an answer was read, which may have been paid for by then. */
function faultOf(error: unknown): unknown {
  if (error instanceof ProviderFault || isClientError(error)) return error;
  if (error instanceof TooLong) return unreadableBecause(error.message);
  if (error instanceof SyntaxError) return unreadableBecause(messageOf(error));
  return brokenOff();
}

function brokenOff(): ProviderFault {
  return new ProviderFault('broke its answer off before it was whole', {
    mayHaveCost: true,
    advice: 'run it again',
  });
}

function checkedObject(text: string): Record<string, unknown> {
  const value = parse(text);
  if (!isJsonObject(value)) throw unreadable(text);
  const error = value['error'];
  if (error === undefined || error === null || error === '') return value;
  throw new ProviderFault(`answered with an error: ${reasonOf(error) ?? 'it does not say which'}`);
}

function parse(text: string): unknown {
  try {
    return parseBoundedJson(text, { values: MAX_VALUES });
  } catch (error) {
    throw error instanceof JsonPastBound ? unreadableBecause(`it ${error.message}`) : unreadable(text);
  }
}

function unreadable(text: string): ProviderFault {
  const advice = 'check its baseUrl, which mostly ends in /v1';
  if (text.trim() === '') return new ProviderFault('answered with nothing at all', { advice });
  if (/^\s*</.test(text)) return new ProviderFault(`answered ${inOneLine(text)}`, { advice });
  const start = text.trim().slice(0, 80);
  return unreadableBecause(`it is not a JSON object: ${start}`, advice);
}

function unreadableBecause(why: string, advice?: string): ProviderFault {
  return new ProviderFault(`answered with something that can’t be read: ${why}`, advice ? { advice } : {});
}

/** Holds back half a character, which servers sometimes send in two pieces. */
export function wholeCharacters(onText: EngineJob['onText']): (piece: string) => void {
  let rest = '';
  return piece => {
    const text = rest + piece;
    const isHalf = /[\uD800-\uDBFF]$/.test(text);
    rest = isHalf ? text.slice(-1) : '';
    const whole = isHalf ? text.slice(0, -1) : text;
    if (whole !== '') onText?.(whole);
  };
}
