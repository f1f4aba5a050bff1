import { ERROR_HTTP_STATUS, type ErrorStatus, MAX_BODY_BYTES } from '../../wire/index.ts';
import { DatabaseUnavailableError } from '../store/errors.ts';
import type { ApiAnswer } from './route.ts';

/** A refusal, as the caller gets it. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly httpStatus: number;

  constructor(
    readonly status: ErrorStatus,
    message: string,
    /** Context for the caller; null where there is none. */
    readonly data: unknown = null,
    /** When another try may be worth it, in seconds. */
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
    this.httpStatus = ERROR_HTTP_STATUS[status];
  }
}

export function notFound(message: string): ApiError {
  return new ApiError('NOT_FOUND_ERROR', message);
}

export function invalid(message: string): ApiError {
  return new ApiError('VALIDATION_ERROR', message);
}

export function tooManyRequests(message: string, retryAfterSeconds: number): ApiError {
  return new ApiError('TOO_MANY_REQUESTS_ERROR', message, null, retryAfterSeconds);
}

export function badRequest(message: string): ApiError {
  return new ApiError('BAD_REQUEST_ERROR', message);
}

export function tooLarge(what = `is larger than ${mebibytes(MAX_BODY_BYTES)}`): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE_ERROR', `the request body ${what}`);
}

/** An amount of bytes as a limit names it, such as `64 MiB`. */
export function mebibytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toLocaleString('en', { maximumFractionDigits: 3 })} MiB`;
}

/** An answer that is this JSON text. */
export function jsonAnswer(httpStatus: number, body: string): ApiAnswer {
  return {
    httpStatus,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body,
  };
}

/** Puts any fault into the envelope; an unforeseen one is reported and answered 500. */
export function answerError(error: unknown, onFault: (error: unknown) => void): ApiAnswer {
  if (!(error instanceof ApiError)) onFault(error);
  const refusal = error instanceof ApiError ? error : serviceError(error);
  const { httpStatus, status, message, data, retryAfterSeconds } = refusal;
  const answer = jsonAnswer(httpStatus, JSON.stringify({ status, message, data }));
  if (retryAfterSeconds === undefined) return answer;
  return { ...answer, headers: { ...answer.headers, 'retry-after': String(Math.ceil(retryAfterSeconds)) } };
}

const DATABASE_RETRY_S = 1;

function serviceError(error: unknown): ApiError {
  if (!(error instanceof DatabaseUnavailableError)) return serverError(error);
  const message = 'the database of the service is away; it goes on by itself once that is back';
  return new ApiError('SERVICE_UNAVAILABLE_ERROR', message, null, DATABASE_RETRY_S);
}

/** A fault of the store is worth naming: its owner is the one who reads it. */
function serverError(error: unknown): ApiError {
  const ofStore =
    error instanceof Error &&
    ('errcode' in error || ('code' in error && typeof error.code === 'string' && 'syscall' in error));
  return new ApiError(
    'SERVER_ERROR',
    ofStore ? `the service can't use its store: ${error.message}` : 'internal error',
  );
}
