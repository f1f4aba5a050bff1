import { describe, expect, it } from 'vitest';
import { parseDuration } from '../../../src/cli/core/duration.ts';

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
    '%j is refused, with what gave it',
    text => {
      expect(() => parseDuration(text, '--grace')).toThrow(/^--grace: /);
    },
  );
});
