import { describe, expect, it } from 'vitest';
import { formatAge, formatIsoAge, parseDuration } from '../../../src/cli/core/durations.ts';

describe('parseDuration', () => {
  it.each([
    ['90s', 90_000],
    ['10m', 600_000],
    ['1h', 3_600_000],
    ['500ms', 500],
    ['1.5s', 1500],
    ['1h30m', 5_400_000],
    ['2d', 172_800_000],
    ['0s', 0],
  ])('reads %s as %i ms', (text, ms) => {
    expect(parseDuration(text, '--timeout')).toBe(ms);
  });

  it.each(['', '10', 's', '-5s', '5 s', '5s!', '1e3s', '5S', '99d'])(
    'refuses %j with the name of its flag',
    text => {
      expect(() => parseDuration(text, '--grace')).toThrow(/^--grace: /);
    },
  );
});

const NOW = Date.UTC(2026, 5, 1);
const SECOND_MS = 1000;
const HOUR_MS = 3600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;

describe('the age of a time', () => {
  it.each([
    [-HOUR_MS, 'just now'],
    [0, 'just now'],
    [59 * SECOND_MS, 'just now'],
    [60 * SECOND_MS, '1 minute ago'],
    [HOUR_MS - 1, '59 minutes ago'],
    [HOUR_MS, '1 hour ago'],
    [DAY_MS - 1, '23 hours ago'],
    [2 * DAY_MS, '2 days ago'],
    [31 * DAY_MS, '1 month ago'],
    [364 * DAY_MS, '12 months ago'],
    [800 * DAY_MS, '2 years ago'],
  ])('of %d ms is formatted as %s', (ageMs, text) => {
    expect(formatAge(NOW - ageMs, NOW)).toBe(text);
  });

  it('is computed from ISO 8601; other texts are returned unchanged', () => {
    expect(formatIsoAge('2026-05-31T22:00:00.000Z', NOW)).toBe('2 hours ago');
    expect(formatIsoAge('yesterday', NOW)).toBe('yesterday');
  });
});
