import { describe, expect, it } from 'vitest';
import { compareRates, formatRateVerdict } from '../../../src/cli/statistics/compare-rates.ts';
import type { CasePair } from '../../../src/cli/statistics/paired.ts';

const times = (count: number, before: number, after: number): CasePair[] =>
  Array.from({ length: count }, () => ({
    before: { passed: before, runs: 1 },
    after: { passed: after, runs: 1 },
  }));

/** Returns the verdict on 300 cases of which so many became worse and better. */
function compareVerdict({
  worse,
  better,
  bad,
}: Record<'worse' | 'better' | 'bad', number>): string | undefined {
  const good = 300 - worse - better - bad;
  const comparison = compareRates([
    ...times(good, 1, 1),
    ...times(worse, 1, 0),
    ...times(better, 0, 1),
    ...times(bad, 0, 0),
  ]);
  return comparison && formatRateVerdict(comparison, 'before');
}

describe('a verdict in one line', () => {
  it('says that a prompt became worse, and how sure that is', () => {
    expect(compareVerdict({ worse: 54, better: 24, bad: 6 })).toBe(
      'worse: 80 % passed, 90 % before; the difference is -10 points, probably between -15.7 and -4.3 points (p < 0.001, 300 cases)',
    );
  });

  it('says that it became better', () => {
    expect(compareVerdict({ worse: 24, better: 54, bad: 6 })).toMatch(
      /^better: .* \+10 points, .* \+4\.3 and \+15\.7 points/u,
    );
  });

  it('says which difference this many cases would show if they show none', () => {
    expect(compareVerdict({ worse: 27, better: 26, bad: 4 })).toBe(
      'no difference shown: 89.7 % passed, 90 % before; the difference is -0.3 points, probably between -5.1 and +4.5 points (p = 1, 300 cases); this many cases show a difference of 6.8 points four times out of five',
    );
  });

  it('needs a pair', () => {
    expect(compareRates([])).toBeUndefined();
  });
});
