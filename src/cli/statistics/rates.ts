import { computeSequenceInterval } from './confidence-sequence.ts';
import { clampInterval, computeWilsonInterval, type Interval } from './interval.ts';
import { average, computeMeanInterval } from './mean.ts';
import { areAllEqual } from './nearly-equal.ts';

/** The number of runs of a case, and how many of them passed. */
export interface CaseRuns {
  readonly passed: number;
  /** The number of runs, at least 1. */
  readonly runs: number;
  /**
   * True if the case ran until it was decided, so that the number of runs depends on the answers.
   */
  readonly isSequential?: true;
}

/** The rate of several cases with its interval. */
export interface RateSummary {
  /** The mean of the cases' rates. */
  readonly rate: number;
  readonly interval: Interval;
  /** The chance that k runs all pass, for each k. */
  readonly passK: ReadonlyMap<number, number>;
}

export function computePassRate({ passed, runs }: CaseRuns): number {
  return passed / runs;
}

/** Returns true if some runs of a case passed and some did not. */
export function isFlaky({ passed, runs }: CaseRuns): boolean {
  return passed > 0 && passed < runs;
}

export function computeRateInterval(caseRuns: CaseRuns): Interval {
  const { passed, runs, isSequential } = caseRuns;
  return isSequential
    ? computeSequenceInterval(passed, runs)
    : computeWilsonInterval(computePassRate(caseRuns), runs);
}

/** Summarizes the rates of cases; undefined if there are none. */
export function summarizeRates(cases: readonly CaseRuns[]): RateSummary | undefined {
  const [firstCase, ...otherCases] = cases;
  if (firstCase === undefined) return undefined;
  const rates = cases.map(computePassRate);
  const rate = average(rates);
  const interval =
    otherCases.length === 0
      ? computeRateInterval(firstCase)
      : computeMeanRateInterval(cases, rates, rate);
  return { rate, interval, passK: computeAllPassChances(cases) };
}

/**
 * Returns the interval of the mean rate. Repetitions of a case are one cluster: they say nothing
 * about other cases.
 */
function computeMeanRateInterval(
  cases: readonly CaseRuns[],
  rates: readonly number[],
  rate: number,
): Interval {
  const hasRepeats = cases.some(({ runs }) => runs > 1);
  if (!hasRepeats || areAllEqual(rates)) return computeWilsonInterval(rate, cases.length);
  return clampInterval(computeMeanInterval(rates), 0, 1);
}

/**
 * Returns, for each k up to the least number of runs of a case, the chance that k runs all pass:
 * pass^k of S. Yao et al., "τ-bench", 2024 (https://arxiv.org/abs/2406.12045).
 */
function computeAllPassChances(cases: readonly CaseRuns[]): ReadonlyMap<number, number> {
  const minRuns = Math.min(...cases.map(({ runs }) => runs));
  const chances = new Map<number, number>();
  const chanceByCase = cases.map(() => 1);
  for (let k = 1; k <= minRuns; k++) {
    // The chance of a case is C(passed, k) / C(runs, k), computed from that of k - 1.
    for (const [index, { passed, runs }] of cases.entries()) {
      chanceByCase[index] =
        ((chanceByCase[index] ?? 0) * Math.max(0, passed - k + 1)) / (runs - k + 1);
    }
    chances.set(k, average(chanceByCase));
  }

  return chances;
}
