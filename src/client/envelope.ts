import { JsonPastBound, parseBoundedJson } from '../wire/bounded-json.ts';
import type { Envelope, SuccessEnvelope } from '../wire/index.ts';
import { SUCCESS_STATUS } from '../wire/index.ts';
import { ProtocolError } from './errors.ts';
import type { Redaction } from './redaction.ts';
import { type AnswerHeaders, headerOf } from './transport.ts';

const EXCERPT_LENGTH = 80;
/** Writing a value out again recurses for each level; thousands would end the process. */
const BOUNDS = { levels: 500, values: 1_000_000 };

/** An answer that was read, and what it answers. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly httpStatus: number;
  /** With the key masked already. */
  readonly headers: AnswerHeaders;
  readonly text: string;
  /** The local time, in milliseconds since the Unix epoch. */
  readonly receivedAt: number;
}

/**
 * The envelope in an answer.
 *
 * @throws {ProtocolError} for anything else, saying what came
 */
export function envelopeOf(received: Received, redaction: Redaction): Envelope<unknown> {
  if (isRedirect(received.httpStatus)) throw redirected(received, redaction);
  const value = valueOf(received, redaction);
  if (!isEnvelope(value)) throw foreign(received, redaction, 'JSON without an envelope');
  const succeeded = received.httpStatus >= 200 && received.httpStatus < 300;
  if (value.status === SUCCESS_STATUS && !succeeded) {
    throw foreign(received, redaction, 'an envelope that says SUCCESS');
  }
  return value;
}

export function isSuccess(envelope: Envelope<unknown>): envelope is SuccessEnvelope<unknown> {
  return envelope.status === SUCCESS_STATUS;
}

export function isRedirect(httpStatus: number): boolean {
  return httpStatus >= 300 && httpStatus < 400;
}

function redirected({ method, url, httpStatus, headers }: Received, redaction: Redaction): ProtocolError {
  const location = headerOf(headers, 'location');
  const target =
    location !== undefined && URL.canParse(location, url) ? new URL(location, url).href : location;
  return new ProtocolError(
    `${method} ${redaction.text(url)} was redirected to ${target ?? 'nowhere'} (HTTP ${httpStatus}); the service's redirects are not followed`,
    { httpStatus },
  );
}

function valueOf(received: Received, redaction: Redaction): unknown {
  const text = received.text.replace(/^\uFEFF/, '');
  if (text.trim() === '') throw foreign(received, redaction, 'an empty answer');
  try {
    return parseBoundedJson(text, BOUNDS);
  } catch (error) {
    if (error instanceof JsonPastBound) throw foreign(received, redaction, `JSON that ${error.message}`);
    const isJson = /^\s*[[{"]/.test(text);
    throw foreign(received, redaction, isJson ? 'broken or truncated JSON' : kindOf(received, redaction));
  }
}

function kindOf({ headers }: Received, redaction: Redaction): string {
  const [type = ''] = (headerOf(headers, 'content-type') ?? '').split(';', 1);
  return type.trim() === ''
    ? 'something other than JSON'
    : `${excerpt(redaction.text(type))} instead of JSON`;
}

function foreign(
  { method, url, httpStatus, text }: Received,
  redaction: Redaction,
  what: string,
): ProtocolError {
  // A page is of no use in a line of text.
  const shown = /^\s*</.test(text) ? '' : excerpt(redaction.text(text));
  const quoted = shown === '' ? '' : `: ${shown}`;
  const request = `${method} ${redaction.text(url)}`;
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
