import { describe, expect, it } from 'vitest';
import { parsePeriod } from '../../../src/cli/core/period.ts';

const NOW_MS = Date.UTC(2026, 4, 1, 12);
const NOW_SECONDS = NOW_MS / 1000;

describe('parsePeriod', () => {
  it.each([
    ['1777636800', 1_777_636_800],
    ['90s', NOW_SECONDS - 90],
    ['4w', NOW_SECONDS - 4 * 604_800],
    ['2026-05-01', Date.UTC(2026, 4, 1) / 1000],
    ['2026-05-01T12:00Z', NOW_SECONDS],
    ['2026-05-01 14:00:00,5+02:00', NOW_SECONDS],
    ['999999999999w', 0],
  ])('reads %s as the second %i', (since, seconds) => {
    expect(parsePeriod({ since }, NOW_MS)).toEqual({ since: seconds });
  });

  it('rounds outwards', () => {
    const flags = { since: '2026-05-01T12:00:00.5Z', until: '2026-05-01T12:00:01.5Z' };
    expect(parsePeriod(flags, NOW_MS)).toEqual({
      since: NOW_SECONDS,
      until: NOW_SECONDS + 2,
    });
  });

  it.each(['soon', '2026-02-30', '2026-05-01T25:00Z', '', '1.5h'])('refuses %j', until => {
    expect(() => parsePeriod({ until }, NOW_MS)).toThrow(
      `--until: ${JSON.stringify(until)} is not a time`,
    );
  });

  it('refuses milliseconds and names the seconds', () => {
    expect(() => parsePeriod({ since: '1777636800000' }, NOW_MS)).toThrow(
      expect.objectContaining({
        message: '--since: 1777636800000 is too large for Unix seconds',
        hints: ['Did you mean 1777636800? Divide milliseconds by 1000.'],
      }),
    );
  });

  it.each([
    {
      since: '1h',
      until: '2h',
      start: '(2026-05-01T11:00:00.000Z)',
      end: '(2026-05-01T10:00:00.000Z)',
    },
    {
      since: '1h',
      until: '999999999999w',
      start: '(2026-05-01T11:00:00.000Z)',
      end: '(1970-01-01T00:00:00.000Z)',
    },
  ])(
    'refuses --since $since --until $until, which has no length',
    ({ since, until, start, end }) => {
      expect(() => parsePeriod({ since, until }, NOW_MS)).toThrow(
        `--since ${start} must be earlier than --until ${end}`,
      );
    },
  );
});
