/** How often a request is sent, and how long apart. */
export interface RetryPolicy {
  /** Requests in all, the first included. */
  readonly attempts: number;
  /** The first wait if the answer asks for none; doubled after each attempt. */
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
  /** True to wait no shorter than usual if the answer asks for less. */
  readonly isUsualLeast: boolean;
}

/** Requests to a service. */
export const SERVICE_RETRIES: RetryPolicy = {
  attempts: 4,
  firstWaitMs: 500,
  longestWaitMs: 4000,
  isUsualLeast: true,
};
/** Creations of a batch that the service refuses because there are too many: other rows use up the limit too. */
export const CREATION_RETRIES: RetryPolicy = { ...SERVICE_RETRIES, attempts: 10 };
/** Sendings of one creation whose answer was lost, to a service that keeps idempotency keys. */
export const LOST_ANSWER_RETRIES: RetryPolicy = { ...SERVICE_RETRIES, attempts: 6, longestWaitMs: 8000 };
/** Requests to a provider of models, whose limits take longer to pass. */
export const PROVIDER_RETRIES: RetryPolicy = {
  attempts: 4,
  firstWaitMs: 1000,
  longestWaitMs: 8000,
  isUsualLeast: false,
};

/** The longest wait that an answer may ask for; if it asks for more, nothing is sent again. */
export const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Returns how long to wait, in milliseconds, before the same request is sent again; undefined to give up. Whether it may be
 * sent again at all is up to the caller.
 *
 * @param attempt the one that failed, from 1
 * @param retryAfterMs what its answer asked for
 */
export function waitBeforeRetry(
  { attempts, firstWaitMs, longestWaitMs, isUsualLeast }: RetryPolicy,
  { attempt, retryAfterMs }: { readonly attempt: number; readonly retryAfterMs?: number | undefined },
  random: () => number = Math.random,
): number | undefined {
  if (attempt >= attempts) return undefined;
  if (retryAfterMs !== undefined && retryAfterMs > MAX_RETRY_AFTER_MS) return undefined;
  // Spread, so that clients that were refused together don't come back together.
  const usual = Math.min(firstWaitMs * 2 ** (attempt - 1), longestWaitMs) * (0.5 + random() / 2);
  return isUsualLeast ? Math.max(usual, retryAfterMs ?? 0) : (retryAfterMs ?? usual);
}

/** Reads the wait of a `Retry-After` header, in milliseconds; undefined if it is not a finite number or a date. */
export function retryAfter(header: string | undefined, now: number): number | undefined {
  const value = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) {
    const ms = Math.ceil(Number(value) * 1000);
    return Number.isFinite(ms) ? ms : undefined;
  }
  // A date has letters; without this, `Date.parse` would take `-5` for a month.
  if (!/[a-z]/i.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
