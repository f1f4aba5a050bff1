import { JsonPastBound, parseBoundedJson } from '../../../wire/bounded-json.ts';
import { TooLong } from '../../outgoing/request.ts';
import { ProviderFault } from './fault.ts';
import { isRecord, reasonIn, reasonOf } from './refused.ts';

/** Most values in an answer, or in one event of a stream. */
const MAX_VALUES = 100_000;

/**
 * The JSON objects of an answer: one, or the events of a stream as they come. What a server was asked for does not
 * matter: some stream without being asked, others never do.
 *
 * @throws {ProviderFault} for an `error` in place of an answer, for a web page, for what is not JSON, and where the
 *   connection ends before the answer does
 */
export async function* answerObjects(response: Response): AsyncGenerator<Record<string, unknown>> {
  const streamed = /^text\/event-stream/i.test(response.headers.get('content-type') ?? '');
  if (streamed) {
    yield* eventsOf(linesOf(textPieces(response)));
    return;
  }
  let text = '';
  for await (const piece of textPieces(response)) text += piece;
  if (/^\s*(?:data|event|id|retry)?:/.test(text)) yield* eventsOf(text.split(/\r?\n/));
  else yield checkedObject(text);
}

async function* textPieces(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  try {
    const body: AsyncIterable<Uint8Array> | null = response.body;
    for await (const chunk of body ?? []) yield decoder.decode(chunk, { stream: true });
  } catch (error) {
    if (error instanceof TooLong) {
      throw unreadableBecause(error.message);
    }
    if (error instanceof Error && error.name === 'AbortError') throw error;
    throw brokenOff();
  }
  yield decoder.decode();
}

async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let begun: string[] = [];
  for await (const piece of pieces) {
    const [first = '', ...others] = piece.split(/\r\n|[\r\n]/);
    begun.push(first);
    const last = others.pop();
    if (last === undefined) continue;
    yield begun.join('');
    yield* others;
    begun = [last];
  }
  if (begun.length > 0) yield begun.join('');
}

/** The data of server-sent events; comments and names of events say nothing here. */
async function* eventsOf(
  lines: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<Record<string, unknown>> {
  let ended = false;
  for await (const line of lines) {
    const data = /^data:\s?(.*)$/s.exec(line)?.[1]?.trim();
    if (data === '[DONE]') return;
    if (data === undefined || data === '') continue;
    const event = checkedObject(data);
    ended ||= isLast(event);
    yield event;
  }
  if (!ended) throw brokenOff();
}

function isLast({ choices }: Record<string, unknown>): boolean {
  const [choice] = Array.isArray(choices) ? (choices as unknown[]) : [];
  return isRecord(choice) && typeof choice['finish_reason'] === 'string';
}

function brokenOff(): ProviderFault {
  return new ProviderFault('broke its answer off before it was whole', { advice: 'run it again' });
}

function checkedObject(text: string): Record<string, unknown> {
  const value = parse(text);
  if (!isRecord(value)) throw unreadable(text);
  const error = value['error'];
  if (error !== undefined && error !== null && error !== '') {
    throw new ProviderFault(`answered with an error: ${reasonOf(error) ?? 'it does not say which'}`);
  }
  return value;
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
  if (/^\s*</.test(text)) return new ProviderFault(`answered ${reasonIn(text)}`, { advice });
  const start = text.trim().slice(0, 80);
  return unreadableBecause(`it is not a JSON object: ${start}`, advice);
}

function unreadableBecause(why: string, advice?: string): ProviderFault {
  return new ProviderFault(`answered with something that can’t be read: ${why}`, advice ? { advice } : {});
}
