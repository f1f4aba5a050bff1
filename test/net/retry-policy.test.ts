import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CREATION_RETRIES,
  computeBackoff,
  MAX_RETRY_AFTER_MS,
  PROVIDER_RETRIES,
  parseRetryAfter,
  type RetryPolicy,
  SERVICE_RETRIES,
} from '../../src/net/retry-policy.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');

/** Returns the waits between all attempts, without a spread. */
function listWaits(policy: RetryPolicy, retryAfterMs?: number): number[] {
  const found: number[] = [];
  for (let attempt = 1; ; attempt += 1) {
    const wait = computeBackoff(policy, { attempt, retryAfterMs }, () => 1);
    if (wait === undefined) return found;
    found.push(wait);
  }
}

describe('computeBackoff', () => {
  it('waits longer after each attempt, as often as the policy allows', () => {
    expect(listWaits(SERVICE_RETRIES)).toEqual([500, 1000, 2000]);
    expect(listWaits(PROVIDER_RETRIES)).toEqual([1000, 2000, 4000]);
    expect(listWaits(CREATION_RETRIES)).toEqual([
      500, 1000, 2000, 4000, 4000, 4000, 4000, 4000, 4000,
    ]);
  });

  it('obeys the wait that an answer asks for, up to a minute', () => {
    for (const policy of [SERVICE_RETRIES, PROVIDER_RETRIES]) {
      expect(listWaits(policy, 7000)).toEqual([7000, 7000, 7000]);
      expect(listWaits(policy, 60_000)).toEqual([60_000, 60_000, 60_000]);
      expect(listWaits(policy, 60_001)).toEqual([]);
    }
  });

  it('waits less if a provider asks for less, but not if a service does', () => {
    expect(listWaits(PROVIDER_RETRIES, 1)).toEqual([1, 1, 1]);
    expect(listWaits(SERVICE_RETRIES, 0)).toEqual([500, 1000, 2000]);
  });

  it('spreads the waits over the upper half', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), random => {
        const wait = computeBackoff(SERVICE_RETRIES, { attempt: 3 }, () => random) ?? 0;
        return wait >= 1000 && wait <= 2000;
      }),
    );
  });
});

describe('parseRetryAfter', () => {
  it('reads seconds', () => {
    expect(parseRetryAfter('0', NOW)).toBe(0);
    expect(parseRetryAfter(' 7 ', NOW)).toBe(7000);
    expect(parseRetryAfter('0.5', NOW)).toBe(500);
  });

  it('reads a date, the past as now', () => {
    expect(parseRetryAfter('Fri, 02 Jan 2026 03:04:35 GMT', NOW)).toBe(30_000);
    expect(parseRetryAfter('Fri, 02 Jan 2026 03:04:00 GMT', NOW)).toBe(0);
  });

  it.each([undefined, '', '-5', 'soon', '1e3', '5 apples', 'NaN', 'Infinity'])(
    'returns undefined for %j',
    header => {
      expect(parseRetryAfter(header, NOW)).toBeUndefined();
    },
  );

  it('reads any date that is a whole number of seconds away', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000_000 }), seconds => {
        const header = new Date(NOW + seconds * 1000).toUTCString();
        return parseRetryAfter(header, NOW) === seconds * 1000;
      }),
    );
  });

  it('never returns a negative wait or NaN, whatever the header', () => {
    fc.assert(
      fc.property(fc.string(), header => {
        const wait = parseRetryAfter(header, NOW);
        return wait === undefined || wait >= 0;
      }),
    );
    expect(parseRetryAfter('9'.repeat(15), NOW)).toBeGreaterThan(MAX_RETRY_AFTER_MS);
    expect(parseRetryAfter('9'.repeat(400), NOW)).toBeUndefined();
  });
});
