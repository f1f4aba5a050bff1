import { describe, expect, it } from 'vitest';
import { computeCaseDifferenceInterval } from '../../../src/cli/statistics/compare-rates.ts';
import * as sequence from '../../../src/cli/statistics/confidence-sequence.ts';
import { computeWilsonInterval, type Interval } from '../../../src/cli/statistics/interval.ts';
import { computeKappa } from '../../../src/cli/statistics/kappa.ts';
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

/** Returns the runs of a case from its pair in figures.json. */
const toCaseRuns = ([passed = 0, runs = 0]: readonly number[]): CaseRuns => ({ passed, runs });

describe('the figures of scipy and statsmodels are reproduced', () => {
  it.each(figures.wilson)(
    'by the Wilson interval of $passed of $runs',
    ({ passed, runs, interval }) => {
      expectInterval(computeWilsonInterval(passed / runs, runs), interval, 12);
    },
  );

  it.each(figures.rates)(
    'by the mean rate over cases: $rate',
    ({ cases, rate, interval, passK }) => {
      const summary = summarizeRates(cases.map(toCaseRuns));
      expect(summary?.rate).toBeCloseTo(rate, 12);
      expectInterval(summary?.interval, interval);
      expect([...(summary?.passK.keys() ?? [])]).toEqual(passK.map((_, index) => index + 1));
      for (const [index, chance] of [...(summary?.passK.values() ?? [])].entries()) {
        expect(chance).toBeCloseTo(passK[index] ?? Number.NaN, 12);
      }
    },
  );

  it.each(figures.sequences)(
    'by the confidence sequence of $passed of $runs',
    ({ passed, runs, interval }) => {
      expectInterval(sequence.computeSequenceInterval(passed, runs), interval, 9);
    },
  );

  it.each(figures.decisions)(
    'by the decision about $required after $passed of $runs: $decided',
    decision => {
      expect(sequence.isDecided(decision.required, decision.passed, decision.runs)).toBe(
        decision.decided,
      );
    },
  );

  it.each(figures.pairs)(
    'by the paired difference $difference',
    ({ before, after, ...expected }) => {
      const pairs = before.map((runs, index) => ({
        before: toCaseRuns(runs),
        after: toCaseRuns(after[index] ?? []),
      }));
      const comparison = comparePairs(pairs);

      expect(comparison.difference).toBeCloseTo(expected.difference, 12);

      expectInterval(comparison.interval, expected.interval);
      expect(comparison.smallestDetectable).toBeCloseTo(expected.smallest, 7);

      const isSampled = pairs.length > 16 && pairs.some(pair => pair.before.runs > 1);
      expect(comparison.pValue).toBeCloseTo(expected.p, isSampled ? 2 : 12);

      const change = expected.difference < 0 ? 'worse' : 'better';
      expect(comparison.verdict).toBe(expected.p >= 0.05 ? 'no difference shown' : change);
    },
  );

  it.each(figures.independent)(
    "by the difference of one case's rates: $before to $after",
    ({ before, after, interval }) => {
      expectInterval(
        computeCaseDifferenceInterval(toCaseRuns(before), toCaseRuns(after)),
        interval,
        12,
      );
    },
  );

  it.each(figures.kappas)("by Cohen's kappa: $value", ({ table, value, interval }) => {
    const [[bothPass = 0, labelOnly = 0] = [], [judgeOnly = 0, bothFail = 0] = []] = table;
    const repeatAnswer = (count: number, label: boolean, judge: boolean) =>
      Array.from({ length: count }, () => ({ label, judge }));
    const kappa = computeKappa([
      ...repeatAnswer(bothPass, true, true),
      ...repeatAnswer(labelOnly, true, false),
      ...repeatAnswer(judgeOnly, false, true),
      ...repeatAnswer(bothFail, false, false),
    ]);

    expect(kappa?.value).toBeCloseTo(value, 12);

    expectInterval(kappa?.interval, interval, 9);
  });
});

describe('if a formula is not defined', () => {
  it('equal rates of repeated cases have the Wilson interval over cases', () => {
    const cases = [8, 4].map(runs => ({ passed: runs / 2, runs }));
    expect(summarizeRates(cases)?.interval).toEqual(computeWilsonInterval(0.5, 2));
  });

  it('cases without repetitions have the Wilson interval over cases', () => {
    const cases = [1, 1, 0].map(passed => ({ passed, runs: 1 }));
    expect(summarizeRates(cases)?.interval).toEqual(computeWilsonInterval(2 / 3, 3));
  });

  it('a single case has its own interval', () => {
    expect(summarizeRates([{ passed: 7, runs: 10 }])?.interval).toEqual(
      computeWilsonInterval(0.7, 10),
    );
    const sequentialCase = { passed: 7, runs: 10, isSequential: true } as const;
    expect(summarizeRates([sequentialCase])?.interval).toEqual(
      sequence.computeSequenceInterval(7, 10),
    );
  });

  it('no cases have no summary', () => {
    expect(summarizeRates([])).toBeUndefined();
  });

  it('equal differences have an interval whose width depends on the number of pairs', () => {
    const pair = { before: { passed: 1, runs: 1 }, after: { passed: 0, runs: 1 } };
    const comparisonOfSix = comparePairs(Array.from({ length: 6 }, () => pair));
    const zSquared = 1.959963984540054 ** 2;
    expectInterval(comparisonOfSix.interval, [-1, -1 + zSquared / (6 + zSquared)], 12);
    expect(comparisonOfSix).toMatchObject({
      verdict: 'worse',
      difference: -1,
      smallestDetectable: 1,
    });
    expect(comparisonOfSix.pValue).toBeCloseTo(2 / 64, 12);
    expect(comparePairs(Array.from({ length: 5 }, () => pair)).verdict).toBe('no difference shown');
  });

  it('equal runs show no difference, however many, sampled or not', () => {
    for (const count of [1, 16, 17, 3000]) {
      for (const runs of [1, 2]) {
        const caseRuns = { passed: 1, runs };
        const pair = { before: caseRuns, after: caseRuns };
        const pairs = Array.from({ length: count }, () => pair);
        expect(comparePairs(pairs)).toMatchObject({
          verdict: 'no difference shown',
          pValue: 1,
          difference: 0,
        });
      }
    }
  });

  it('a sampled p-value is never 0', () => {
    const pairs = Array.from({ length: 60 }, () => ({
      before: { passed: 2, runs: 2 },
      after: { passed: 0, runs: 2 },
    }));
    expect(comparePairs(pairs).pValue).toBe(1 / 100_001);
  });

  it('verdicts without any difference have no kappa', () => {
    expect(computeKappa([])).toBeUndefined();
    expect(
      computeKappa(Array.from({ length: 7 }, () => ({ label: true, judge: true }))),
    ).toBeUndefined();
    expect(
      computeKappa(Array.from({ length: 3 }, () => ({ label: false, judge: false }))),
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

  it('can be out of reach of a number of answers', () => {
    expect(sequence.computeHighestProvableRate(100)).toBeCloseTo(0.9267, 4);
    expect(sequence.countGoodRunsNeeded(0.95)).toBe(158);
    expect(sequence.isDecided(0.95, 157, 157)).toBe(false);
  });

  it('near the observed one would take more answers than are counted', () => {
    expect(sequence.countFurtherRunsNeeded(0.8, 80, 100)).toBeUndefined();
    expect(sequence.countFurtherRunsNeeded(0.8, 81, 100)).toBeUndefined();
    expect(sequence.countFurtherRunsNeeded(0.95, 100, 100)).toBe(58);
  });

  it('is decided by the computed number of further answers, and not by one less', () => {
    const further = sequence.countFurtherRunsNeeded(0.8, 70, 100) ?? 0;
    expect(sequence.isDecided(0.8, 0.7 * (100 + further), 100 + further)).toBe(true);
    expect(sequence.isDecided(0.8, 0.7 * (99 + further), 99 + further)).toBe(false);
  });
});
