import { NetworkError, ProtocolError, RateLimitError, ServiceError } from './errors.ts';

/** Requests made for one call at most, the first included. */
export const MAX_ATTEMPTS = 4;
/** A service that asks for a longer wait than this is not waited for. */
export const MAX_RETRY_AFTER_MS = 60_000;

const FIRST_DELAY_MS = 500;

/** One request that failed. */
export interface FailedAttempt {
  readonly method: string;
  /** From 1. */
  readonly attempt: number;
  /** Requests that may be made in all. */
  readonly maxAttempts: number;
  readonly error: unknown;
  /** What the answer asked to wait, where it did. */
  readonly retryAfterMs: number | undefined;
}

/** How long to wait before the request is made again, in milliseconds; undefined to give up. */
export function retryDelay(failed: FailedAttempt, random: () => number): number | undefined {
  if (failed.attempt >= failed.maxAttempts || !mayRepeat(failed.method, failed.error)) return undefined;
  const { retryAfterMs = 0 } = failed;
  if (retryAfterMs > MAX_RETRY_AFTER_MS) return undefined;
  return Math.max(retryAfterMs, backoff(failed.attempt, random));
}

/** Whether the fault may have gone by the next time the same thing is asked for: network, 429, 5xx. */
export function isPassing(error: unknown): boolean {
  if (error instanceof NetworkError) return error.mayPass;
  if (error instanceof RateLimitError) return true;
  if (!(error instanceof ServiceError || error instanceof ProtocolError)) return false;
  return error.httpStatus !== undefined && error.httpStatus >= 500;
}

/** The wait that a `Retry-After` header asks for, in milliseconds; undefined if it is no finite number and no date. */
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

// What may have had an effect is never sent twice: it may have created a run that costs credits.
function mayRepeat(method: string, error: unknown): boolean {
  if (method === 'GET') return isPassing(error);
  return (
    error instanceof RateLimitError || (error instanceof NetworkError && error.nothingSent && error.mayPass)
  );
}

function backoff(attempt: number, random: () => number): number {
  return FIRST_DELAY_MS * 2 ** (attempt - 1) * (0.5 + random() / 2);
}
