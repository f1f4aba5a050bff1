import { type RetryPolicy, SERVICE_RETRIES, waitBeforeRetry } from '../net/retry.ts';
import { NetworkError, ProtocolError, RateLimitError, ServiceError } from './errors.ts';

/** One request that failed. */
export interface FailedAttempt {
  readonly method: string;
  /** From 1. */
  readonly attempt: number;
  readonly error: unknown;
  /** The wait that the answer asked for. */
  readonly retryAfterMs: number | undefined;
}

/** How long to wait before the request is sent again, in milliseconds; undefined to give up. */
export function retryDelay(
  { method, error, ...failed }: FailedAttempt,
  random: () => number,
  policy: RetryPolicy = SERVICE_RETRIES,
): number | undefined {
  return mayRepeat(method, error) ? waitBeforeRetry(policy, failed, random) : undefined;
}

/** The usual policy with another number of retries; undefined leaves it as it is. */
export function withRetries(retries: number | undefined): RetryPolicy {
  return retries === undefined ? SERVICE_RETRIES : { ...SERVICE_RETRIES, attempts: retries + 1 };
}

/** True if the fault may have gone by the next time the same thing is asked for: network, 429, 5xx. */
export function isPassing(error: unknown): boolean {
  if (error instanceof NetworkError) return error.mayPass;
  if (error instanceof RateLimitError) return true;
  if (!(error instanceof ServiceError || error instanceof ProtocolError)) return false;
  return error.httpStatus !== undefined && error.httpStatus >= 500;
}

// What may have had an effect is never sent twice: it may have created a run that costs credits.
function mayRepeat(method: string, error: unknown): boolean {
  if (method === 'GET') return isPassing(error);
  return (
    error instanceof RateLimitError || (error instanceof NetworkError && error.nothingSent && error.mayPass)
  );
}
