import { ERROR_HTTP_STATUS, type ErrorEnvelope, type ErrorStatus } from '../../wire/index.ts';

/** A refusal, as the caller is told of it (interface §7). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly httpStatus: number;

  constructor(
    readonly status: ErrorStatus,
    message: string,
    readonly data: unknown = null,
    /** When another try may be worth it, in seconds. */
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
    this.httpStatus = ERROR_HTTP_STATUS[status];
  }
}

export function errorEnvelope(status: ErrorStatus, message: string, data: unknown = null): ErrorEnvelope {
  return { status, message, data };
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
