import { type Envelope, ERROR_HTTP_STATUS, type ErrorEnvelope, type ErrorStatus } from '../wire/index.ts';
import { envelopeOf, isSuccess } from './envelope.ts';
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
} from './errors.ts';
import { fillsSegment } from './path.ts';
import type { Redaction } from './redaction.ts';
import type { RawAnswer } from './request.ts';
import { retryAfter } from './retry.ts';
import { type AnswerHeaders, headerOf } from './transport.ts';

/** What a try came to: an answer, which may report an error, or none that is the service's. */
export type Outcome = ({ readonly answer: RawAnswer } | { readonly error: PromptServiceError }) & {
  /** What the answer asked to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
};

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

/** Reads an answer's meaning; the key is masked in whatever comes of it, the outputs of runs excepted. */
export function parseResponse(received: Received, redaction: Redaction): Outcome {
  const { method, httpStatus, headers } = received;
  const date = dateOf(headers);
  const retryAfterMs = retryAfter(headerOf(headers, 'retry-after'), date ?? received.receivedAt);
  try {
    const { envelope, text } = masked(readEnvelope(received, redaction), received, redaction);
    const error = isSuccess(envelope)
      ? undefined
      : serviceErrorOf(envelope, { method, httpStatus, retryAfterMs });
    return { answer: { httpStatus, headers, text, envelope, date, error }, retryAfterMs };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return { error: refusedOnTheWay(error, httpStatus, retryAfterMs), retryAfterMs };
  }
}

export function isRedirect(httpStatus: number): boolean {
  return httpStatus >= 300 && httpStatus < 400;
}

/** The server's own time, in milliseconds since the Unix epoch. */
export function dateOf(headers: AnswerHeaders): number | undefined {
  const date = Date.parse(headerOf(headers, 'date') ?? '');
  return Number.isNaN(date) ? undefined : date;
}

function readEnvelope(received: Received, redaction: Redaction): Envelope<unknown> {
  const { method, url, httpStatus, headers, text } = received;
  const request = `${method} ${redaction.text(url)}`;
  if (isRedirect(httpStatus)) throw redirected(received, request);
  return envelopeOf({ httpStatus, headers, text, request, redact: shown => redaction.text(shown) });
}

// What succeeded may be a result, and a result stays as it came.
function masked(
  envelope: Envelope<unknown>,
  { text }: Received,
  redaction: Redaction,
): { envelope: Envelope<unknown>; text: string } {
  const safe = redaction.value(envelope, isSuccess(envelope) ? 'outputs' : undefined);
  return { envelope: safe, text: safe === envelope ? text : JSON.stringify(safe) };
}

function redirected({ url, httpStatus, headers }: Received, request: string): ProtocolError {
  const location = headerOf(headers, 'location');
  const target =
    location !== undefined && URL.canParse(location, url) ? new URL(location, url).href : location;
  return new ProtocolError(
    `${request} was redirected to ${target ?? 'nowhere'} (HTTP ${httpStatus}); the service's redirects are not followed`,
    { httpStatus },
  );
}

/** What an intermediary says without an envelope means the same, as far as it can only mean one thing. */
function refusedOnTheWay(
  error: ProtocolError,
  httpStatus: number,
  retryAfterMs: number | undefined,
): PromptServiceError {
  const { message } = error;
  switch (httpStatus) {
    case 401:
      return new UnauthorizedError('UNAUTHORIZED_ERROR', message, { httpStatus });
    case 403:
      return new UnauthorizedError('FORBIDDEN_ERROR', message, { httpStatus });
    case 413:
      return new ProtocolError(`${message}; a gateway on the way takes no request of this size`, {
        httpStatus,
      });
    case 429:
      return new RateLimitError('TOO_MANY_REQUESTS_ERROR', message, { httpStatus, retryAfterMs });
    default:
      return error;
  }
}

interface Circumstances {
  readonly method: string;
  readonly httpStatus: number;
  readonly retryAfterMs: number | undefined;
}

/** The error that an envelope reports: by its code where that is known, otherwise by its HTTP status. */
function serviceErrorOf(envelope: ErrorEnvelope, circumstances: Circumstances): ServiceError {
  const { httpStatus, retryAfterMs, method } = circumstances;
  const { status, data } = envelope;
  const message = envelope.message ?? `the service answered with HTTP ${httpStatus}`;
  const options = { httpStatus, data };
  const runId = runIdIn(data);
  switch (meantStatus(status, httpStatus)) {
    case 400:
    case 413:
    case 422:
    case 431:
      return new ValidationError(status, message, options);
    case 401:
    case 403:
      return new UnauthorizedError(status, message, options);
    case 402:
      return new PaymentRequiredError(status, message, options);
    case 404:
    case 410:
      return new NotFoundError(status, message, options);
    case 429:
      return new RateLimitError(status, message, { ...options, retryAfterMs });
    case 504:
      if (method === 'POST' && runId !== undefined) {
        return new GatewayTimeoutError(status, message, { ...options, runId });
      }
      return new ServiceError(status, message, options);
    default:
      return new ServiceError(status, message, options);
  }
}

function meantStatus(status: string, httpStatus: number): number {
  return Object.hasOwn(ERROR_HTTP_STATUS, status) ? ERROR_HTTP_STATUS[status as ErrorStatus] : httpStatus;
}

function runIdIn(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null || !('runId' in data)) return undefined;
  return typeof data.runId === 'string' && fillsSegment(data.runId) ? data.runId : undefined;
}
