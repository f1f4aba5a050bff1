import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  NetworkError,
  NotFoundError,
  ProtocolError,
  RateLimitError,
  ServiceError,
} from '../../../src/client/errors.ts';
import { computeRetryDelay } from '../../../src/client/http/retry.ts';

const unsentError = new NetworkError('x', { nothingSent: true });
const lostAnswerError = new NetworkError('x', { nothingSent: false });
const limited = new RateLimitError('TOO_MANY_REQUESTS_ERROR', 'x', { httpStatus: 429 });
const failed = new ServiceError('SERVER_ERROR', 'x', { httpStatus: 500 });
const timedOut = new ServiceError('GATEWAY_TIMEOUT_ERROR', 'x', { httpStatus: 504 });
const badGateway = new ProtocolError('x', { httpStatus: 502 });
const noEnvelope = new ProtocolError('x', { httpStatus: 200 });
const missing = new NotFoundError('NOT_FOUND_ERROR', 'x', { httpStatus: 404 });

function computeDelay(
  method: string,
  error: unknown,
  more: { attempt?: number; retryAfterMs?: number } = {},
): number | undefined {
  return computeRetryDelay(
    { method, error, attempt: 1, retryAfterMs: undefined, ...more },
    () => 0,
  );
}

describe('computeRetryDelay', () => {
  it.each([unsentError, lostAnswerError, limited, failed, timedOut, badGateway])(
    'repeats a GET after %s',
    error => {
      expect(computeDelay('GET', error)).toBeGreaterThan(0);
    },
  );

  it.each([missing, noEnvelope, new Error('x')])('does not repeat a GET after %s', error => {
    expect(computeDelay('GET', error)).toBeUndefined();
  });

  it.each([unsentError, limited])('repeats a POST after %s', error => {
    expect(computeDelay('POST', error)).toBeGreaterThan(0);
  });

  it.each([lostAnswerError, failed, timedOut, badGateway, noEnvelope, missing])(
    'never repeats a POST after %s',
    error => {
      expect(computeDelay('POST', error)).toBeUndefined();
    },
  );

  it('makes four requests in all, each wait longer than the one before', () => {
    const waits = [1, 2, 3, 4].map(attempt => computeDelay('GET', failed, { attempt }));
    expect(waits).toEqual([250, 500, 1000, undefined]);
  });

  it('spreads the waits', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), random => {
        const options = { method: 'GET', error: failed, attempt: 3, retryAfterMs: undefined };
        const wait = computeRetryDelay(options, () => random) ?? 0;
        return wait >= 1000 && wait <= 2000;
      }),
    );
  });

  it('waits as long as requested, and gives up beyond a minute', () => {
    expect(computeDelay('GET', limited, { retryAfterMs: 60_000 })).toBe(60_000);
    expect(computeDelay('POST', limited, { retryAfterMs: 7000 })).toBe(7000);
    expect(computeDelay('GET', limited, { retryAfterMs: 60_001 })).toBeUndefined();
    expect(computeDelay('GET', limited, { retryAfterMs: 0 })).toBe(250);
  });
});
