import { retryAfter } from '../net/retry.ts';
import { ERROR_HTTP_STATUS, type ErrorEnvelope, type ErrorStatus } from '../wire/index.ts';
import { envelopeOf, isSuccess, type Received } from './envelope.ts';
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
import { type AnswerHeaders, headerOf } from './transport.ts';

/** What a try came to: an answer of the service, which may report an error, or none. */
export type Outcome = (
  | { readonly answer: RawAnswer; readonly error: ServiceError | undefined }
  | { readonly answer?: undefined; readonly error: PromptServiceError }
) & {
  /** What the answer asked to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
};

/** Reads an answer's meaning; the key is masked in whatever comes of it, the outputs of runs excepted. */
export function parseResponse(received: Received, redaction: Redaction): Outcome {
  const { method, httpStatus, headers } = received;
  const date = dateOf(headers);
  const retryAfterMs = retryAfter(headerOf(headers, 'retry-after'), date ?? received.receivedAt);
  try {
    const envelope = envelopeOf(received, redaction);
    // What succeeded may be a result, and a result stays as it came.
    const safe = redaction.value(envelope, isSuccess(envelope) ? 'outputs' : undefined);
    const text = safe === envelope ? received.text : JSON.stringify(safe);
    const error = isSuccess(safe) ? undefined : serviceErrorOf(safe, method, { httpStatus, retryAfterMs });
    return { answer: { httpStatus, headers, text, envelope: safe, date, error }, error, retryAfterMs };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return { error: refusedOnTheWay(error, httpStatus, retryAfterMs), retryAfterMs };
  }
}

/** The server's own time, in milliseconds since the Unix epoch. */
function dateOf(headers: AnswerHeaders): number | undefined {
  const date = Date.parse(headerOf(headers, 'date') ?? '');
  return Number.isNaN(date) ? undefined : date;
}

/** What an intermediary says without an envelope means the same, as far as it can only mean one thing. */
function refusedOnTheWay(
  error: ProtocolError,
  httpStatus: number,
  retryAfterMs: number | undefined,
): PromptServiceError {
  const { message } = error;
  if (httpStatus === 413) {
    return new ProtocolError(`${message}; a gateway on the way takes no request of this size`, {
      httpStatus,
    });
  }
  const status = REFUSALS[httpStatus];
  return status === undefined ? error : errorFor(status, message, { httpStatus, retryAfterMs });
}

const REFUSALS: Readonly<Record<number, ErrorStatus>> = {
  401: 'UNAUTHORIZED_ERROR',
  403: 'FORBIDDEN_ERROR',
  429: 'TOO_MANY_REQUESTS_ERROR',
};

/** The error that an envelope reports. */
function serviceErrorOf(
  { status, data, message }: ErrorEnvelope,
  method: string,
  { httpStatus, retryAfterMs }: { httpStatus: number; retryAfterMs: number | undefined },
): ServiceError {
  const text = message ?? `the service answered with HTTP ${httpStatus}`;
  const options = { httpStatus, data, retryAfterMs };
  const runId = runIdIn(data);
  const goesOn = method === 'POST' && runId !== undefined && meantStatus(status, httpStatus) === 504;
  return goesOn
    ? new GatewayTimeoutError(status, text, { ...options, runId })
    : errorFor(status, text, options);
}

const ERRORS: Readonly<Record<number, typeof ServiceError>> = {
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

/** An error of the class that its code stands for where that is known, otherwise its HTTP status. */
export function errorFor(
  status: string,
  message: string,
  options: ConstructorParameters<typeof RateLimitError>[2],
): ServiceError {
  const Kind = ERRORS[meantStatus(status, options.httpStatus)] ?? ServiceError;
  return new Kind(status, message, options);
}

function meantStatus(status: string, httpStatus: number): number {
  return Object.hasOwn(ERROR_HTTP_STATUS, status) ? ERROR_HTTP_STATUS[status as ErrorStatus] : httpStatus;
}

function runIdIn(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null || !('runId' in data)) return undefined;
  return typeof data.runId === 'string' && fillsSegment(data.runId) ? data.runId : undefined;
}
