import { JsonPastBound, parseBoundedJson } from '../wire/bounded-json.ts';
import type { Envelope, SuccessEnvelope } from '../wire/index.ts';
import { SUCCESS_STATUS } from '../wire/index.ts';
import { ProtocolError } from './errors.ts';
import { type AnswerHeaders, headerOf } from './transport.ts';

const EXCERPT_LENGTH = 80;
/** Writing a value out again recurses for each level; thousands would end the process. */
const BOUNDS = { levels: 500, values: 1_000_000 };

/** What came, before it is known whether it is the service's. */
export interface ReceivedText {
  readonly httpStatus: number;
  readonly headers: AnswerHeaders;
  readonly text: string;
  /** Names the request in messages. */
  readonly request: string;
  /** Makes text fit to be shown. */
  readonly redact: (text: string) => string;
}

/**
 * The envelope in an answer.
 *
 * @throws {ProtocolError} for anything else, saying what came
 */
export function envelopeOf(received: ReceivedText): Envelope<unknown> {
  const value = valueOf(received);
  if (!isEnvelope(value)) throw foreign(received, 'JSON without an envelope');
  const succeeded = received.httpStatus >= 200 && received.httpStatus < 300;
  if (value.status === SUCCESS_STATUS && !succeeded) throw foreign(received, 'an envelope that says SUCCESS');
  return value;
}

export function isSuccess(envelope: Envelope<unknown>): envelope is SuccessEnvelope<unknown> {
  return envelope.status === SUCCESS_STATUS;
}

function valueOf(received: ReceivedText): unknown {
  const text = received.text.replace(/^\uFEFF/, '');
  if (text.trim() === '') throw foreign(received, 'an empty answer');
  try {
    return parseBoundedJson(text, BOUNDS);
  } catch (error) {
    if (error instanceof JsonPastBound) throw foreign(received, `JSON that ${error.message}`);
    throw foreign(received, /^\s*[[{"]/.test(text) ? 'broken or truncated JSON' : kindOf(received));
  }
}

function kindOf({ headers, redact }: ReceivedText): string {
  const [type = ''] = (headerOf(headers, 'content-type') ?? '').split(';', 1);
  return type.trim() === '' ? 'something other than JSON' : `${excerpt(redact(type))} instead of JSON`;
}

function foreign({ httpStatus, request, text, redact }: ReceivedText, what: string): ProtocolError {
  // A page is of no use in a line of text.
  const shown = /^\s*</.test(text) ? '' : excerpt(redact(text));
  const quoted = shown === '' ? '' : `: ${shown}`;
  return new ProtocolError(`${request} was answered with HTTP ${httpStatus} and ${what}${quoted}`, {
    httpStatus,
  });
}

/** A text, cut short and on one line, for messages. */
function excerpt(text: string): string {
  const line = text
    .slice(0, EXCERPT_LENGTH * 4)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > EXCERPT_LENGTH ? `${line.slice(0, EXCERPT_LENGTH)}…` : line;
}

function isEnvelope(value: unknown): value is Envelope<unknown> {
  if (typeof value !== 'object' || value === null || !('status' in value)) return false;
  if (typeof value.status !== 'string' || value.status === '') return false;
  if (value.status === SUCCESS_STATUS) return 'data' in value;
  return !('message' in value) || typeof value.message === 'string';
}
