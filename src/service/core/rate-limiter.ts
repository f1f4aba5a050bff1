import type { Clock } from './clock.ts';

/** Counts requests by key. */
export interface RateLimiter {
  /** Requests per second that a key may send. */
  readonly perSecond: number;
  /** Counts a request; returns 0 if it is within the limit, else the wait in milliseconds. */
  countRequest(key: string): number | Promise<number>;
}

/** Returns a limiter that allows bursts of `perSecond` requests and refills within a second. */
export function createRateLimiter(perSecond: number, clock: Clock): RateLimiter {
  const buckets = new Map<string, { tokens: number; refilledAt: number }>();
  const burst = Math.max(1, perSecond);
  return {
    perSecond,
    countRequest(key) {
      const now = clock.now();
      const bucket = buckets.get(key) ?? { tokens: burst, refilledAt: now };
      const refilled = bucket.tokens + (Math.max(0, now - bucket.refilledAt) * perSecond) / 1000;
      const tokens = Math.min(burst, refilled);
      const isGranted = tokens >= 1;
      buckets.set(key, { tokens: isGranted ? tokens - 1 : tokens, refilledAt: now });
      return isGranted ? 0 : ((1 - tokens) / perSecond) * 1000;
    },
  };
}
