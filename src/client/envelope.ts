import type { Envelope, SuccessEnvelope } from '../wire/index.ts';
import { SUCCESS_STATUS } from '../wire/index.ts';
import { ProtocolError } from './errors.ts';
import { isNestedDeeper } from './nesting.ts';
import { type AnswerHeaders, headerOf } from './transport.ts';

const EXCERPT_LENGTH = 80;
/** Whoever writes a value out again calls itself for each level; thousands would end the process. */
const MAX_LEVELS = 500;

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
 * The envelope in an answer (interface §7).
 *
 * @throws {ProtocolError} for anything else, saying what came
 */
export function envelopeOf(received: ReceivedText): Envelope<unknown> {
  const value = parsed(received);
  if (!isEnvelope(value)) throw foreign(received, 'JSON without an envelope');
  const succeeded = received.httpStatus >= 200 && received.httpStatus < 300;
  if (value.status === SUCCESS_STATUS && !succeeded) throw foreign(received, 'an envelope that says SUCCESS');
  return value;
}

export function isSuccess(envelope: Envelope<unknown>): envelope is SuccessEnvelope<unknown> {
  return envelope.status === SUCCESS_STATUS;
}

/** The text of an answer, cut short and on one line, for messages. */
function excerpt(text: string): string {
  const line = text
    .slice(0, EXCERPT_LENGTH * 4)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > EXCERPT_LENGTH ? `${line.slice(0, EXCERPT_LENGTH)}…` : line;
}

function parsed(received: ReceivedText): unknown {
  const text = received.text.replace(/^\uFEFF/, '');
  if (text.trim() === '') throw foreign(received, 'an empty answer');
  const value = valueOf(text, received);
  if (isNestedDeeper(text, MAX_LEVELS)) throw foreign(received, 'JSON of too many levels');
  return value;
}

function valueOf(text: string, received: ReceivedText): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw foreign(received, looksLikeJson(text) ? 'broken or truncated JSON' : kindOf(received));
  }
}

function looksLikeJson(text: string): boolean {
  return /^\s*[[{"]/.test(text);
}

function kindOf(received: ReceivedText): string {
  const [type = ''] = (headerOf(received.headers, 'content-type') ?? '').split(';', 1);
  return type === '' ? 'no JSON' : `${type} instead of JSON`;
}

function foreign({ httpStatus, request, text, redact }: ReceivedText, what: string): ProtocolError {
  const shown = excerpt(redact(text));
  const quoted = shown === '' ? '' : `: ${shown}`;
  return new ProtocolError(`${request} was answered with HTTP ${httpStatus} and ${what}${quoted}`, {
    httpStatus,
  });
}

function isEnvelope(value: unknown): value is Envelope<unknown> {
  if (typeof value !== 'object' || value === null || !('status' in value)) return false;
  if (typeof value.status !== 'string' || value.status === '') return false;
  if (value.status === SUCCESS_STATUS) return 'data' in value;
  return !('message' in value) || typeof value.message === 'string';
}
