import { describe, expect, inject, test } from 'vitest';
import { HandClock } from '../support/hand-clock.ts';
import { createKeyIn, TestService } from '../support/local-service.ts';

describe('--rate-limit', () => {
  // PostgreSQL counts by its own clock.
  test.skipIf(inject('postgres'))(
    'allows each key so many requests a second, then answers 429 with the wait',
    async () => {
      const clock = new HandClock();
      const limited = await TestService.forTest({ clock, rateLimit: 3 });
      const otherKey = await createKeyIn(limited.dataDir, { user: 'other' });

      const requestStatuses = async (count: number, key?: string): Promise<number[]> => {
        const statuses: number[] = [];
        for (let index = 0; index < count; index += 1) {
          statuses.push((await limited.get('/me', { key })).http);
        }
        return statuses;
      };

      expect(await requestStatuses(5)).toEqual([200, 200, 200, 429, 429]);
      expect(await requestStatuses(1, otherKey)).toEqual([200]);

      const refusal = await limited.get('/nowhere', { headers: { 'cli-agent': 'old' } });
      expect(refusal).toMatchObject({ http: 429, status: 'TOO_MANY_REQUESTS_ERROR', data: null });
      expect(refusal.headers.get('retry-after')).toBe('1');
      expect(refusal.headers.get('action-require')).toBeTruthy();

      clock.advance(1000);
      expect(await requestStatuses(4)).toEqual([200, 200, 200, 429]);

      // A third of a second allows one more.
      clock.advance(334);
      expect(await requestStatuses(2)).toEqual([200, 429]);
      expect(await requestStatuses(1, 'wrong')).toEqual([401]);
    },
  );

  test('limits nothing by default', async () => {
    const service = await TestService.forTest();
    const answers = await Promise.all(Array.from({ length: 50 }, () => service.get('/me')));
    expect(new Set(answers.map(({ http }) => http))).toEqual(new Set([200]));
  });
});
