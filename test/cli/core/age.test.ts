import { describe, expect, it } from 'vitest';
import { ageInWords, ageOf } from '../../../src/cli/core/age.ts';

const NOW = Date.UTC(2026, 5, 1);
const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;

describe('ages', () => {
  it.each([
    [-HOUR, 'just now'],
    [0, 'just now'],
    [59 * SECOND, 'just now'],
    [60 * SECOND, '1 minute ago'],
    [HOUR - 1, '59 minutes ago'],
    [HOUR, '1 hour ago'],
    [DAY - 1, '23 hours ago'],
    [2 * DAY, '2 days ago'],
    [31 * DAY, '1 month ago'],
    [364 * DAY, '12 months ago'],
    [800 * DAY, '2 years ago'],
  ])('puts %d ms as %s', (ms, words) => {
    expect(ageInWords(NOW - ms, NOW)).toBe(words);
  });

  it('reads ISO 8601 and gives back what is not a time', () => {
    expect(ageOf('2026-05-31T22:00:00.000Z', NOW)).toBe('2 hours ago');
    expect(ageOf('yesterday', NOW)).toBe('yesterday');
  });
});
