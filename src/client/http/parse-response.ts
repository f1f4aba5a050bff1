import { parseRetryAfter } from '../../net/retry-policy.ts';
import { JsonLimitError, MAX_JSON, parseBoundedJson } from '../../utils/bounded-json.ts';
import {
  type Envelope,
  ERROR_HTTP_STATUS,
  type ErrorEnvelope,
  type ErrorStatus,
  SUCCESS_STATUS,
  type SuccessEnvelope,
} from '../../wire/index.ts';
import {
  GatewayTimeoutError,
  NotFoundError,
  PaymentRequiredError,
  type PromptServiceError,
  ProtocolError,
  RateLimitError,
  ServiceError,
  UnauthorizedError,
  ValidationError,
} from '../errors.ts';
import type { RawAnswer } from '../request-options.ts';
import type { AnswerHeaders } from '../transport.ts';
import { fillsSegment } from '../url-path.ts';
import type { Redaction } from './redaction.ts';

const RESPONSE_EXCERPT_LENGTH = 80;

/** HTTP statuses whose meaning is the same if an intermediary refuses a request. */
const REFUSAL_STATUSES: Readonly<Record<number, ErrorStatus>> = {
  401: 'UNAUTHORIZED_ERROR',
  403: 'FORBIDDEN_ERROR',
  429: 'TOO_MANY_REQUESTS_ERROR',
};

const ERROR_CLASSES: Readonly<Record<number, typeof ServiceError>> = {
  400: ValidationError,
  401: UnauthorizedError,
  402: PaymentRequiredError,
  403: UnauthorizedError,
  404: NotFoundError,
  410: NotFoundError,
  413: ValidationError,
  422: ValidationError,
  429: RateLimitError,
  431: ValidationError,
};

/** Matches what may be a number of 16 digits or more, or a very large one, such as 1e400. */
const LONG_OR_LARGE_NUMBER = /[\d.]{16}|[[:,] ?-?\d[\d.]*[eE]\+?\d{3}/;

/** An answer whose body has been read, and the request that it answers. */
export interface ReceivedResponse {
  readonly method: string;
  readonly url: string;
  readonly httpStatus: number;
  /** The key is already masked in them. */
  readonly headers: AnswerHeaders;
  readonly text: string;
  /** The local time, in milliseconds since the Unix epoch. */
  readonly receivedAt: number;
}

/** The outcome of an attempt: an answer of the service, which may report an error, or no answer. */
export type AttemptOutcome = (
  | { readonly answer: RawAnswer; readonly error: ServiceError | undefined }
  | { readonly answer?: undefined; readonly error: PromptServiceError }
) & {
  /** The wait that an answer with an error asked for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
};

/** Interprets an answer. The key is masked in the result, except in the outputs of runs. */
export function parseResponse(
  response: ReceivedResponse,
  redaction: Redaction,
  parseJson = parseBoundedJson,
): AttemptOutcome {
  const { method, httpStatus, headers } = response;
  const date = readDate(headers);
  try {
    const envelope = parseEnvelope(response, redaction, parseJson);

    // The outputs of a run are a result, and results stay as they came.
    const maskedEnvelope = redaction.redactValue(
      envelope,
      isSuccess(envelope) ? 'outputs' : undefined,
    );
    const text = maskedEnvelope === envelope ? response.text : JSON.stringify(maskedEnvelope);
    const answer = { httpStatus, headers, text, envelope: maskedEnvelope, date, error: undefined };
    if (isSuccess(maskedEnvelope)) return { answer, error: undefined };

    const retryAfterMs = readRetryAfter(response, date);
    const error = toServiceError(maskedEnvelope, method, { httpStatus, retryAfterMs });
    return { answer: { ...answer, error }, error, retryAfterMs };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    const retryAfterMs = readRetryAfter(response, date);
    return { error: toIntermediaryError(error, httpStatus, retryAfterMs), retryAfterMs };
  }
}

/**
 * Parses the envelope of an answer.
 *
 * @throws {ProtocolError} for anything but an envelope, describing what came
 */
export function parseEnvelope(
  response: ReceivedResponse,
  redaction: Redaction,
  parseJson = parseBoundedJson,
): Envelope<unknown> {
  if (isRedirect(response.httpStatus)) throw redirectError(response, redaction);

  const value = parseValue(response, redaction, parseJson);
  if (!isEnvelope(value)) {
    throw unexpectedAnswerError(response, redaction, 'JSON without an envelope');
  }

  const isOk = response.httpStatus >= 200 && response.httpStatus < 300;
  if (value.status === SUCCESS_STATUS && !isOk) {
    throw unexpectedAnswerError(response, redaction, 'an envelope that says SUCCESS');
  }

  return value;
}

export function isSuccess(envelope: Envelope<unknown>): envelope is SuccessEnvelope<unknown> {
  return envelope.status === SUCCESS_STATUS;
}

export function isRedirect(httpStatus: number): boolean {
  return httpStatus >= 300 && httpStatus < 400;
}

function redirectError(
  { method, url, httpStatus, headers }: ReceivedResponse,
  redaction: Redaction,
): ProtocolError {
  const location = findHeader(headers, 'location');
  const targetUrl =
    location !== undefined && URL.canParse(location, url) ? new URL(location, url).href : location;
  return new ProtocolError(
    `${method} ${redaction.redactText(url)} was redirected to ${targetUrl ?? 'nowhere'} (HTTP ${httpStatus}); the service's redirects are not followed`,
    { httpStatus },
  );
}

function parseValue(
  response: ReceivedResponse,
  redaction: Redaction,
  parseJson: typeof parseBoundedJson,
): unknown {
  const text = response.text.replace(/^\uFEFF/, '');
  if (text.trim() === '') throw unexpectedAnswerError(response, redaction, 'an empty answer');
  try {
    return parseJson(text, MAX_JSON);
  } catch (error) {
    if (error instanceof JsonLimitError) {
      throw unexpectedAnswerError(response, redaction, `JSON that ${error.message}`);
    }
    const isJson = /^\s*[[{"]/.test(text);
    throw unexpectedAnswerError(
      response,
      redaction,
      isJson ? 'broken or truncated JSON' : describeContentKind(response, redaction),
    );
  }
}

function describeContentKind({ headers }: ReceivedResponse, redaction: Redaction): string {
  const [type = ''] = (findHeader(headers, 'content-type') ?? '').split(';', 1);
  return type.trim() === '' || /\bjson\b/i.test(type)
    ? 'something other than JSON'
    : `${formatExcerpt(redaction.redactText(type))} instead of JSON`;
}

function unexpectedAnswerError(
  { method, url, httpStatus, text }: ReceivedResponse,
  redaction: Redaction,
  content: string,
): ProtocolError {
  // A web page is of no use in a one-line message.
  const excerpt = /^\s*</.test(text) ? '' : formatExcerpt(redaction.redactText(text));
  const quoted = excerpt === '' ? '' : `: ${excerpt}`;
  const request = `${method} ${redaction.redactText(url)}`;
  return new ProtocolError(
    `${request} was answered with HTTP ${httpStatus} and ${content}${quoted}`,
    {
      httpStatus,
    },
  );
}

/** Returns a text on one line, cut short, for messages. */
function formatExcerpt(text: string): string {
  const line = text
    .slice(0, RESPONSE_EXCERPT_LENGTH * 4)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > RESPONSE_EXCERPT_LENGTH
    ? `${line.slice(0, RESPONSE_EXCERPT_LENGTH)}…`
    : line;
}

function isEnvelope(value: unknown): value is Envelope<unknown> {
  if (typeof value !== 'object' || value === null || !('status' in value)) return false;
  if (typeof value.status !== 'string' || value.status === '') return false;
  if (value.status === SUCCESS_STATUS) return 'data' in value;
  return !('message' in value) || typeof value.message === 'string';
}

/**
 * Returns the wait that an answer asks for, in milliseconds.
 *
 * @param date the server's time
 */
function readRetryAfter(
  { headers, receivedAt }: ReceivedResponse,
  date: number | undefined,
): number | undefined {
  return parseRetryAfter(findHeader(headers, 'retry-after'), date ?? receivedAt);
}

/** Returns the server's time, in milliseconds since the Unix epoch. */
function readDate(headers: AnswerHeaders): number | undefined {
  const date = Date.parse(findHeader(headers, 'date') ?? '');
  return Number.isNaN(date) ? undefined : date;
}

/**
 * Maps an intermediary's refusal to the error that an envelope would give, if its HTTP status has
 * only one meaning.
 */
function toIntermediaryError(
  error: ProtocolError,
  httpStatus: number,
  retryAfterMs: number | undefined,
): PromptServiceError {
  const { message } = error;
  if (httpStatus === 413) {
    return new ProtocolError(`${message}; a gateway on the way refuses requests of this size`, {
      httpStatus,
    });
  }

  const status = REFUSAL_STATUSES[httpStatus];
  return status === undefined
    ? error
    : createServiceError(status, message, { httpStatus, retryAfterMs, cause: error });
}

/** Returns the error that an envelope reports. */
function toServiceError(
  { status, data, message }: ErrorEnvelope,
  method: string,
  { httpStatus, retryAfterMs }: { httpStatus: number; retryAfterMs: number | undefined },
): ServiceError {
  const errorMessage = message ?? `the service answered with HTTP ${httpStatus}`;
  const options = { httpStatus, data, retryAfterMs };
  const runId = findRunId(data);
  const isRunning =
    method === 'POST' && runId !== undefined && getEffectiveStatus(status, httpStatus) === 504;

  return isRunning
    ? new GatewayTimeoutError(status, errorMessage, { ...options, runId })
    : createServiceError(status, errorMessage, options);
}

/**
 * Returns an error of the class for its status code or, if the code is unknown, for its HTTP
 * status.
 */
export function createServiceError(
  status: string,
  message: string,
  options: ConstructorParameters<typeof RateLimitError>[2],
): ServiceError {
  const ErrorClass = ERROR_CLASSES[getEffectiveStatus(status, options.httpStatus)] ?? ServiceError;
  return new ErrorClass(status, message, options);
}

function getEffectiveStatus(status: string, httpStatus: number): number {
  return Object.hasOwn(ERROR_HTTP_STATUS, status)
    ? ERROR_HTTP_STATUS[status as ErrorStatus]
    : httpStatus;
}

function findRunId(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null || !('runId' in data)) return undefined;
  return typeof data.runId === 'string' && fillsSegment(data.runId) ? data.runId : undefined;
}

/** Returns the value of a header, the first if there are several. */
export function findHeader(headers: AnswerHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

/** Returns a parser that keeps every digit, if the text needs one. */
export async function loadNumberParser(text: string): Promise<typeof parseBoundedJson> {
  if (!LONG_OR_LARGE_NUMBER.test(text)) return parseBoundedJson;
  const { parseKeepingNumbers } = await import('../../utils/written-numbers.ts');
  return parseKeepingNumbers;
}
