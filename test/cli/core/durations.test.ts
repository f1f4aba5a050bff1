import { describe, expect, it } from 'vitest';
import { formatAge, formatIsoAge, parseDuration } from '../../../src/cli/core/durations.ts';

describe('a duration', () => {
  it.each([
    ['90s', 90_000],
    ['10m', 600_000],
    ['1h', 3_600_000],
    ['500ms', 500],
    ['1.5s', 1500],
    ['1h30m', 5_400_000],
    ['2d', 172_800_000],
    ['0s', 0],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text, '--timeout')).toBe(ms);
  });

  it.each(['', '10', 's', '-5s', '5 s', '5s!', '1e3s', '5S', '99d'])(
    '%j is refused, naming its flag',
    text => {
      expect(() => parseDuration(text, '--grace')).toThrow(/^--grace: /);
    },
  );
});

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
    expect(formatAge(NOW - ms, NOW)).toBe(words);
  });

  it('reads ISO 8601 and returns other texts unchanged', () => {
    expect(formatIsoAge('2026-05-31T22:00:00.000Z', NOW)).toBe('2 hours ago');
    expect(formatIsoAge('yesterday', NOW)).toBe('yesterday');
  });
});
