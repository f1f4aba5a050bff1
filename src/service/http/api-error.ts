import { TasksClosedError } from '../../prompts/tasks/task-order.ts';
import { ERROR_HTTP_STATUS, type ErrorStatus, MAX_BODY_BYTES } from '../../wire/index.ts';
import { Refusal, type RefusalCode, type RefusalDetails } from '../core/refusal.ts';
import {
  DatabaseUnavailableError,
  DiskFullError,
  isStoreUnavailable,
} from '../store/store-errors.ts';
import type { ApiAnswer } from './route.ts';

/** A refusal by the HTTP interface itself, such as of a body that is not JSON. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly data: unknown;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    readonly status: ErrorStatus,
    message: string,
    { data = null, retryAfterSeconds }: RefusalDetails = {},
  ) {
    super(message);
    this.data = data;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Wait for a caller while the store is unavailable, in seconds. */
const UNAVAILABLE_RETRY_S = 1;

const ERROR_STATUSES: Readonly<Record<RefusalCode, ErrorStatus>> = {
  INVALID_REQUEST: 'VALIDATION_ERROR',
  NOT_FOUND: 'NOT_FOUND_ERROR',
  GONE: 'GONE_ERROR',
  NO_ACCESS: 'FORBIDDEN_ERROR',
  NO_KEY: 'UNAUTHORIZED_ERROR',
  NO_PLAN: 'PAYMENT_REQUIRED_ERROR',
  TOO_FEW_CREDITS: 'PAYMENT_REQUIRED_ERROR',
  NO_SPACE: 'INSUFFICIENT_STORAGE_ERROR',
  TOO_MANY: 'TOO_MANY_REQUESTS_ERROR',
  TOO_LARGE: 'PAYLOAD_TOO_LARGE_ERROR',
  UNAVAILABLE: 'SERVICE_UNAVAILABLE_ERROR',
};

export function badRequest(message: string): ApiError {
  return new ApiError('BAD_REQUEST_ERROR', message);
}

export function tooLarge(fault = `is larger than ${formatMebibytes(MAX_BODY_BYTES)}`): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE_ERROR', `the request body ${fault}`);
}

/** Formats a limit in bytes, such as `64 MiB`. */
export function formatMebibytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toLocaleString('en', { maximumFractionDigits: 3 })} MiB`;
}

export function createJsonAnswer(httpStatus: number, body: string): ApiAnswer {
  return {
    httpStatus,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body,
  };
}

/** Returns the answer to a failed request. An unexpected error is reported to `onFault`. */
export function createErrorAnswer(error: unknown, onFault: (error: unknown) => void): ApiAnswer {
  const { status, message, data, retryAfterSeconds } = toApiError(error, onFault);
  const answer = createJsonAnswer(
    ERROR_HTTP_STATUS[status],
    JSON.stringify({ status, message, data }),
  );
  if (retryAfterSeconds === undefined) return answer;
  return {
    ...answer,
    headers: { ...answer.headers, 'retry-after': String(Math.ceil(retryAfterSeconds)) },
  };
}

function toApiError(error: unknown, onFault: (error: unknown) => void): ApiError {
  if (error instanceof ApiError) return error;

  if (error instanceof Refusal) {
    const { data, retryAfterSeconds } = error;
    return new ApiError(ERROR_STATUSES[error.code], error.message, { data, retryAfterSeconds });
  }

  if (error instanceof TasksClosedError) {
    return new ApiError('SERVICE_UNAVAILABLE_ERROR', error.message);
  }

  onFault(error);
  return isStoreUnavailable(error) ? storeUnavailableError(error) : serverError(error);
}

function storeUnavailableError(error: unknown): ApiError {
  const storeName = error instanceof DatabaseUnavailableError ? 'database' : 'object store';
  const message = `the service's ${storeName} is unavailable; the service resumes by itself once it is back`;
  return new ApiError('SERVICE_UNAVAILABLE_ERROR', message, {
    retryAfterSeconds: UNAVAILABLE_RETRY_S,
  });
}

/** Returns the 500 for an unexpected error. Only errors of the store are named. */
function serverError(error: unknown): ApiError {
  // The error itself names the disk, which only the operator may see.
  const fault = error instanceof DiskFullError ? error.cause : error;
  const isStoreFault =
    fault instanceof Error &&
    ('errcode' in fault ||
      ('code' in fault && typeof fault.code === 'string' && 'syscall' in fault));
  return new ApiError(
    'SERVER_ERROR',
    isStoreFault ? `the service can't use its store: ${fault.message}` : 'internal error',
  );
}
