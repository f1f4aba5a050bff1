import type { GridRange } from '../../outputs/html/grid.ts';
import {
  computeCaseDifferenceInterval,
  formatPoints,
  type RateComparison,
} from '../../statistics/compare-rates.ts';
import {
  formatInterval,
  formatPassRate,
  formatPercent,
  type Interval,
} from '../../statistics/interval.ts';
import {
  type CaseRuns,
  computePassRate,
  computeRateInterval,
  isFlaky,
  type RateSummary,
} from '../../statistics/rates.ts';
import type { CaseChange } from '../baseline/compare-with-baseline.ts';
import { computeRequiredRate, formatRequiredPasses } from '../cases/pass-rule.ts';
import type { EntryResult } from '../entry-result.ts';
import type { TestSummary } from './test-summary.ts';

/** Returns the rate of all cases, that of each model, and their difference from the baseline. */
export function buildSummaryRanges({ overall, models, baseline }: TestSummary): GridRange[] {
  return [
    ...(overall ? [buildRateRange('all cases', overall)] : []),
    ...[...models].flatMap(([name, rate]) => (rate ? [buildRateRange(name, rate)] : [])),
    ...(baseline?.rates ? [buildDifferenceRange(baseline.rates)] : []),
  ];
}

function buildRateRange(label: string, { rate, interval }: RateSummary): GridRange {
  const text = `${formatPercent(Number(rate.toFixed(3)))} (${formatInterval(interval)})`;
  return { label, text, value: rate, interval, min: 0, comparedValue: undefined, tone: 'good' };
}

/**
 * Returns the rate of a repeated case, and its difference from the baseline if either side repeats
 * or it changed.
 */
export function buildCaseRanges(
  { caseRuns, status, entry }: Pick<EntryResult, 'caseRuns' | 'status' | 'entry'>,
  change: CaseChange | undefined,
): GridRange[] {
  if (caseRuns === undefined) return [];

  const { passRule } = entry.testCase;
  const { passed, runs } = caseRuns;
  const isRepeated = runs > 1 || status === 'undecided';
  const interval = computeRateInterval(caseRuns);
  const rate: GridRange = {
    label: 'passed',
    text: `${formatPassRate(passed, runs, interval)}, ${formatRequiredPasses(passRule, runs)}`,
    value: computePassRate(caseRuns),
    interval,
    min: 0,
    comparedValue: computeRequiredRate(passRule, runs),
    tone: status === 'passed' ? getPassedTone(caseRuns) : 'bad',
  };

  const changeRanges = buildChangeRanges(caseRuns, change, { isRepeated });
  return isRepeated ? [rate, ...changeRanges] : changeRanges;
}

function getPassedTone(caseRuns: CaseRuns): GridRange['tone'] {
  return isFlaky(caseRuns) ? 'changed' : 'good';
}

function buildChangeRanges(
  runsNow: CaseRuns,
  change: CaseChange | undefined,
  { isRepeated }: { readonly isRepeated: boolean },
): GridRange[] {
  const { runsBefore, kind } = change ?? {};
  if (runsBefore === undefined) return [];
  if (kind === 'same' && !isRepeated && runsBefore.runs === 1) return [];

  const difference = computePassRate(runsNow) - computePassRate(runsBefore);
  return [
    buildDifferenceRange({
      difference,
      interval: computeCaseDifferenceInterval(runsBefore, runsNow),
    }),
  ];
}

function buildDifferenceRange({
  difference,
  interval,
}: Pick<RateComparison, 'difference' | 'interval'>): GridRange {
  const [low, high] = interval;
  return {
    label: 'since the baseline',
    text: `${formatPoints(difference)} points (${formatPoints(low)} to ${formatPoints(high)})`,
    value: difference,
    interval,
    min: -1,
    comparedValue: 0,
    tone: getRangeTone(interval),
  };
}

function getRangeTone([low, high]: Interval): GridRange['tone'] {
  if (high < 0) return 'bad';
  return low > 0 ? 'good' : 'changed';
}
