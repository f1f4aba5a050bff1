import { describe, expect, it } from 'vitest';
import { caseDifferenceInterval } from '../../../src/cli/statistics/compare-rates.ts';
import * as sequence from '../../../src/cli/statistics/confidence-sequence.ts';
import { type Interval, wilsonInterval } from '../../../src/cli/statistics/interval.ts';
import { cohensKappa } from '../../../src/cli/statistics/kappa.ts';
import { comparePairs } from '../../../src/cli/statistics/paired.ts';
import { type CaseRuns, summarizeRates } from '../../../src/cli/statistics/rates.ts';
import figures from './figures/figures.json' with { type: 'json' };

function expectInterval(
  interval: Interval | undefined,
  expected: readonly number[],
  digits = 7,
): void {
  expect(interval?.[0]).toBeCloseTo(expected[0] ?? Number.NaN, digits);
  expect(interval?.[1]).toBeCloseTo(expected[1] ?? Number.NaN, digits);
}

const caseRuns = ([passed = 0, runs = 0]: readonly number[]): CaseRuns => ({ passed, runs });

describe('figures of scipy and statsmodels', () => {
  it.each(figures.wilson)('Wilson: $passed of $runs', ({ passed, runs, interval }) => {
    expectInterval(wilsonInterval(passed / runs, runs), interval, 12);
  });

  it.each(figures.rates)('mean over cases: $rate', ({ cases, rate, interval, passK }) => {
    const summary = summarizeRates(cases.map(caseRuns));
    expect(summary?.rate).toBeCloseTo(rate, 12);
    expectInterval(summary?.interval, interval);
    expect([...(summary?.passK.keys() ?? [])]).toEqual(passK.map((_, index) => index + 1));
    for (const [at, chance] of [...(summary?.passK.values() ?? [])].entries()) {
      expect(chance).toBeCloseTo(passK[at] ?? Number.NaN, 12);
    }
  });

  it.each(figures.sequences)(
    'confidence sequence: $passed of $runs',
    ({ passed, runs, interval }) => {
      expectInterval(sequence.computeSequenceInterval(passed, runs), interval, 9);
    },
  );

  it.each(figures.decisions)('decided at $required by $passed of $runs: $decided', decision => {
    expect(sequence.isDecided(decision.required, decision.passed, decision.runs)).toBe(
      decision.decided,
    );
  });

  it.each(figures.pairs)('paired difference: $difference', ({ before, after, ...expected }) => {
    const pairs = before.map((runs, index) => ({
      before: caseRuns(runs),
      after: caseRuns(after[index] ?? []),
    }));
    const comparison = comparePairs(pairs);

    expect(comparison.difference).toBeCloseTo(expected.difference, 12);

    expectInterval(comparison.interval, expected.interval);
    expect(comparison.smallest).toBeCloseTo(expected.smallest, 7);

    const isDrawn = pairs.length > 16 && pairs.some(pair => pair.before.runs > 1);
    expect(comparison.p).toBeCloseTo(expected.p, isDrawn ? 2 : 12);

    const change = expected.difference < 0 ? 'worse' : 'better';
    expect(comparison.verdict).toBe(expected.p >= 0.05 ? 'no difference shown' : change);
  });

  it.each(figures.independent)(
    "the difference of one case's rates: $before to $after",
    ({ before, after, interval }) => {
      expectInterval(caseDifferenceInterval(caseRuns(before), caseRuns(after)), interval, 12);
    },
  );

  it.each(figures.kappas)("Cohen's kappa: $value", ({ table, value, interval }) => {
    const [[bothPass = 0, labelOnly = 0] = [], [judgeOnly = 0, bothFail = 0] = []] = table;
    const times = (count: number, label: boolean, judge: boolean) =>
      Array.from({ length: count }, () => ({ label, judge }));
    const kappa = cohensKappa([
      ...times(bothPass, true, true),
      ...times(labelOnly, true, false),
      ...times(judgeOnly, false, true),
      ...times(bothFail, false, false),
    ]);

    expect(kappa?.value).toBeCloseTo(value, 12);

    expectInterval(kappa?.interval, interval, 9);
  });
});

describe('figures for which a formula is not defined', () => {
  it('takes the Wilson interval over cases if all rates of repeated cases are equal', () => {
    const cases = [8, 4].map(runs => ({ passed: runs / 2, runs }));
    expect(summarizeRates(cases)?.interval).toEqual(wilsonInterval(0.5, 2));
  });

  it('takes the Wilson interval over cases if nothing repeats', () => {
    const cases = [1, 1, 0].map(passed => ({ passed, runs: 1 }));
    expect(summarizeRates(cases)?.interval).toEqual(wilsonInterval(2 / 3, 3));
  });

  it("takes a single case's own interval", () => {
    expect(summarizeRates([{ passed: 7, runs: 10 }])?.interval).toEqual(wilsonInterval(0.7, 10));
    const stopped = { passed: 7, runs: 10, isSequential: true } as const;
    expect(summarizeRates([stopped])?.interval).toEqual(sequence.computeSequenceInterval(7, 10));
  });

  it('has no summary without a case', () => {
    expect(summarizeRates([])).toBeUndefined();
  });

  it('returns an interval for equal differences whose width depends on the number of pairs', () => {
    const pair = { before: { passed: 1, runs: 1 }, after: { passed: 0, runs: 1 } };
    const six = comparePairs(Array.from({ length: 6 }, () => pair));
    const z2 = 1.959963984540054 ** 2;
    expectInterval(six.interval, [-1, -1 + z2 / (6 + z2)], 12);
    expect(six).toMatchObject({ verdict: 'worse', difference: -1, smallest: 1 });
    expect(six.p).toBeCloseTo(2 / 64, 12);
    expect(comparePairs(Array.from({ length: 5 }, () => pair)).verdict).toBe('no difference shown');
  });

  it('finds no difference between equal runs, drawn or not, however many', () => {
    for (const count of [1, 16, 17, 3000]) {
      for (const runs of [1, 2]) {
        const same = { passed: 1, runs };
        const pairs = Array.from({ length: count }, () => ({ before: same, after: same }));
        expect(comparePairs(pairs)).toMatchObject({
          verdict: 'no difference shown',
          p: 1,
          difference: 0,
        });
      }
    }
  });

  it('never draws a p of 0', () => {
    const pairs = Array.from({ length: 60 }, () => ({
      before: { passed: 2, runs: 2 },
      after: { passed: 0, runs: 2 },
    }));
    expect(comparePairs(pairs).p).toBe(1 / 100_001);
  });

  it('has no kappa if both always say the same', () => {
    expect(cohensKappa([])).toBeUndefined();
    expect(
      cohensKappa(Array.from({ length: 7 }, () => ({ label: true, judge: true }))),
    ).toBeUndefined();
    expect(
      cohensKappa(Array.from({ length: 3 }, () => ({ label: false, judge: false }))),
    ).toBeUndefined();
  });
});

describe('a required rate', () => {
  it('of 0 % is met by any answer', () => {
    expect(sequence.isDecided(0, 0, 1)).toBe(true);
  });

  it('of 100 % is decided by the first bad answer, never by good ones', () => {
    expect(sequence.isDecided(1, 4, 5)).toBe(true);
    expect(sequence.isDecided(1, 10_000, 10_000)).toBe(false);
    expect(sequence.countGoodRunsNeeded(1)).toBe(Number.POSITIVE_INFINITY);
  });

  it('can be out of reach of so many answers', () => {
    expect(sequence.computeHighestReachable(100)).toBeCloseTo(0.9267, 4);
    expect(sequence.countGoodRunsNeeded(0.95)).toBe(158);
    expect(sequence.isDecided(0.95, 157, 157)).toBe(false);
  });

  it('near the observed one takes more answers than can be said', () => {
    expect(sequence.countFurtherRunsNeeded(0.8, 80, 100)).toBeUndefined();
    expect(sequence.countFurtherRunsNeeded(0.8, 81, 100)).toBeUndefined();
    expect(sequence.countFurtherRunsNeeded(0.95, 100, 100)).toBe(58);
  });

  it('is decided by the number of further answers that was named, and not by one less', () => {
    const further = sequence.countFurtherRunsNeeded(0.8, 70, 100) ?? 0;
    expect(sequence.isDecided(0.8, 0.7 * (100 + further), 100 + further)).toBe(true);
    expect(sequence.isDecided(0.8, 0.7 * (99 + further), 99 + further)).toBe(false);
  });
});
