/** The number and the intervals of a request's retries. */
export interface RetryPolicy {
  /** The first attempt is included. */
  readonly maxAttempts: number;
  /**
   * The wait after the first attempt if the answer asks for none; it doubles after each attempt.
   */
  readonly firstWaitMs: number;
  readonly maxWaitMs: number;
  /** True to wait at least as long as usual, even if the answer asks for less. */
  readonly backoffIsMinimum: boolean;
}

/** Requests to a service. */
export const SERVICE_RETRIES: RetryPolicy = {
  maxAttempts: 4,
  firstWaitMs: 500,
  maxWaitMs: 4000,
  backoffIsMinimum: true,
};

/** Creations of a batch after a 429: other rows use up the limit too. */
export const CREATION_RETRIES: RetryPolicy = { ...SERVICE_RETRIES, maxAttempts: 10 };

/** One creation whose answer was lost, at a service that keeps idempotency keys. */
export const LOST_ANSWER_RETRIES: RetryPolicy = {
  ...SERVICE_RETRIES,
  maxAttempts: 6,
  maxWaitMs: 8000,
};

/** Requests to a model provider, whose rate limits take longer to reset. */
export const PROVIDER_RETRIES: RetryPolicy = {
  maxAttempts: 4,
  firstWaitMs: 1000,
  maxWaitMs: 8000,
  backoffIsMinimum: false,
};

/** Maximum wait that an answer may ask for; beyond it the request is not retried. */
export const MAX_RETRY_AFTER_MS = 60_000;

export interface FailedAttempt {
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  /** The wait that its answer asked for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * Returns the wait before the next attempt, in milliseconds; undefined to give up. The caller
 * decides if the request may be sent again at all.
 */
export function computeBackoff(
  { maxAttempts, firstWaitMs, maxWaitMs, backoffIsMinimum }: RetryPolicy,
  { attempt, retryAfterMs }: FailedAttempt,
  random: () => number = Math.random,
): number | undefined {
  if (attempt >= maxAttempts) return undefined;
  if (retryAfterMs !== undefined && retryAfterMs > MAX_RETRY_AFTER_MS) return undefined;
  // Jitter, so that clients that were refused together don't come back together.
  const backoffMs = Math.min(firstWaitMs * 2 ** (attempt - 1), maxWaitMs) * (0.5 + random() / 2);
  return backoffIsMinimum ? Math.max(backoffMs, retryAfterMs ?? 0) : (retryAfterMs ?? backoffMs);
}

/**
 * Parses a `Retry-After` header into milliseconds; undefined if it is neither a finite number nor a
 * date.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const value = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) {
    const ms = Math.ceil(Number(value) * 1000);
    return Number.isFinite(ms) ? ms : undefined;
  }

  // Dates have letters. Without this check, `Date.parse` would read `-5` as a month.
  if (!/[a-z]/i.test(value)) return undefined;

  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
