import { describe, expect, it } from 'vitest';
import { compareRates, formatRateVerdict } from '../../../src/cli/statistics/compare-rates.ts';
import type { CasePair } from '../../../src/cli/statistics/paired.ts';

const repeatPair = (count: number, before: number, after: number): CasePair[] =>
  Array.from({ length: count }, () => ({
    before: { passed: before, runs: 1 },
    after: { passed: after, runs: 1 },
  }));

/** Formats the verdict on 300 cases, of which some became worse or better, or stayed bad. */
function formatCountedVerdict({
  worse,
  better,
  bad,
}: Record<'worse' | 'better' | 'bad', number>): string | undefined {
  const good = 300 - worse - better - bad;
  const comparison = compareRates([
    ...repeatPair(good, 1, 1),
    ...repeatPair(worse, 1, 0),
    ...repeatPair(better, 0, 1),
    ...repeatPair(bad, 0, 0),
  ]);
  return comparison && formatRateVerdict(comparison, 'before');
}

describe('a verdict in one line', () => {
  it('says that a prompt became worse, with its certainty', () => {
    expect(formatCountedVerdict({ worse: 54, better: 24, bad: 6 })).toBe(
      'worse: 80 % passed, 90 % before; the difference is -10 points, probably between -15.7 and -4.3 points (p < 0.001, 300 cases)',
    );
  });

  it('says that it became better', () => {
    expect(formatCountedVerdict({ worse: 24, better: 54, bad: 6 })).toMatch(
      /^better: .* \+10 points, .* \+4\.3 and \+15\.7 points/u,
    );
  });

  it('names the difference that this many cases could show, if they show none', () => {
    expect(formatCountedVerdict({ worse: 27, better: 26, bad: 4 })).toBe(
      'no difference shown: 89.7 % passed, 90 % before; the difference is -0.3 points, probably between -5.1 and +4.5 points (p = 1, 300 cases); this many cases show a difference of 6.8 points four times out of five',
    );
  });

  it('is not given without a pair', () => {
    expect(compareRates([])).toBeUndefined();
  });
});
