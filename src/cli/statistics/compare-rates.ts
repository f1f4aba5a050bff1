import { clampInterval, formatPercent, type Interval } from './interval.ts';
import { average } from './mean.ts';
import { type CasePair, comparePairs, MIN_PAIRS, type PairedDifference } from './paired.ts';
import { type CaseRuns, computePassRate, computeRateInterval } from './rates.ts';

/** The mean rates of the same cases before and after a change, and their difference. */
export interface RateComparison extends PairedDifference {
  /** The number of cases. */
  readonly pairs: number;
  /** The mean rate before the change. */
  readonly before: number;
  /** The mean rate after the change. */
  readonly after: number;
}

/** Compares paired rates; undefined without pairs. */
export function compareRates(pairs: readonly CasePair[]): RateComparison | undefined {
  if (pairs.length === 0) return undefined;
  return {
    ...comparePairs(pairs),
    pairs: pairs.length,
    before: average(pairs.map(({ before }) => computePassRate(before))),
    after: average(pairs.map(({ after }) => computePassRate(after))),
  };
}

/**
 * Formats the verdict in one line, with its certainty.
 *
 * @param reference the other side of the comparison, such as `in the baseline`
 */
export function formatRateVerdict(comparison: RateComparison, reference: string): string {
  const { verdict, before, after, difference, interval, pairs, pValue, smallestDetectable } =
    comparison;
  const rates = `${formatRoundedPercent(after)} passed, ${formatRoundedPercent(before)} ${reference}`;
  const range = `probably between ${formatPoints(interval[0])} and ${formatPoints(interval[1])} points`;
  const basis = `(p ${formatPValue(pValue)}, ${pairs} ${pairs === 1 ? 'case' : 'cases'})`;
  const line = `${verdict}: ${rates}; the difference is ${formatPoints(difference)} points, ${range} ${basis}`;
  if (verdict !== 'no difference shown') return line;

  if (pairs < MIN_PAIRS) {
    return `${line}; fewer than ${MIN_PAIRS} cases cannot show any difference`;
  }

  return `${line}; this many cases show a difference of ${formatPoints(smallestDetectable).slice(1)} points four times out of five`;
}

function formatRoundedPercent(rate: number): string {
  return formatPercent(Number(rate.toFixed(3)));
}

/** Formats a difference of rates in percentage points with its sign, such as `-10.3`. */
export function formatPoints(difference: number): string {
  const points = Number((difference * 100).toFixed(1));
  return points < 0 ? String(points) : `+${Math.abs(points)}`;
}

function formatPValue(pValue: number): string {
  return pValue < 0.001 ? '< 0.001' : `= ${Number(pValue.toFixed(3))}`;
}

/**
 * Returns the 95 % interval of the difference of one case's rates, which were counted apart: method
 * 10 of R. G. Newcombe, "Interval estimation for the difference between independent proportions",
 * 1998 (https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I).
 */
export function computeCaseDifferenceInterval(runsBefore: CaseRuns, runsAfter: CaseRuns): Interval {
  const [before, after] = [computePassRate(runsBefore), computePassRate(runsAfter)];
  const [beforeLow, beforeHigh] = computeRateInterval(runsBefore);
  const [afterLow, afterHigh] = computeRateInterval(runsAfter);
  const reachDown = Math.hypot(after - afterLow, beforeHigh - before);
  const reachUp = Math.hypot(afterHigh - after, before - beforeLow);
  return clampInterval([after - before - reachDown, after - before + reachUp], -1, 1);
}
