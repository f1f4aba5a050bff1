import { ERROR_HTTP_STATUS, type ErrorEnvelope, type ErrorStatus } from '../wire/index.ts';
import {
  GatewayTimeoutError,
  NotFoundError,
  PaymentRequiredError,
  RateLimitError,
  ServiceError,
  UnauthorizedError,
  ValidationError,
} from './errors.ts';
import { fillsSegment } from './path.ts';

/** What an error envelope came with. */
export interface ErrorCircumstances {
  readonly method: string;
  readonly httpStatus: number;
  readonly retryAfterMs: number | undefined;
}

/** The error that an envelope reports: by its code where that is known, otherwise by its HTTP status. */
export function serviceError(envelope: ErrorEnvelope, circumstances: ErrorCircumstances): ServiceError {
  const { httpStatus, retryAfterMs, method } = circumstances;
  const { status, data } = envelope;
  const message = envelope.message ?? `the service answered with HTTP ${httpStatus}`;
  const options = { httpStatus, data };
  const runId = referredRun(data);
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
      return new RateLimitError(status, message, {
        ...options,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      });
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

function referredRun(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null || !('runId' in data)) return undefined;
  return typeof data.runId === 'string' && fillsSegment(data.runId) ? data.runId : undefined;
}
