import {
  computeBackoff,
  type FailedAttempt,
  type RetryPolicy,
  SERVICE_RETRIES,
} from '../../net/retry-policy.ts';
import { NetworkError, ProtocolError, RateLimitError, ServiceError } from '../errors.ts';

/** A failed attempt to send a request. */
export interface FailedRequest extends FailedAttempt {
  readonly method: string;
  readonly error: unknown;
}

/** Returns the wait before the next attempt, in milliseconds; undefined to give up. */
export function computeRetryDelay(
  { method, error, ...failedAttempt }: FailedRequest,
  random: () => number,
  policy: RetryPolicy = SERVICE_RETRIES,
): number | undefined {
  return mayRepeat(method, error) ? computeBackoff(policy, failedAttempt, random) : undefined;
}

/** Returns the usual policy with another number of retries; undefined leaves it unchanged. */
export function createRetryPolicy(retries: number | undefined): RetryPolicy {
  return retries === undefined ? SERVICE_RETRIES : { ...SERVICE_RETRIES, maxAttempts: retries + 1 };
}

/** Returns true if the fault may be temporary: network, 429, 5xx. */
export function isTransientFault(error: unknown): boolean {
  if (error instanceof NetworkError) return error.mayPass;
  if (error instanceof RateLimitError) return true;
  if (!(error instanceof ServiceError || error instanceof ProtocolError)) return false;
  return error.httpStatus !== undefined && error.httpStatus >= 500;
}

// A request that may have had an effect is never sent twice: it may have created a run that costs
// credits.
function mayRepeat(method: string, error: unknown): boolean {
  if (method === 'GET') return isTransientFault(error);
  return (
    error instanceof RateLimitError ||
    (error instanceof NetworkError && error.nothingSent && error.mayPass)
  );
}
