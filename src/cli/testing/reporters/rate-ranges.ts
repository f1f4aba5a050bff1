import type { GridRange } from '../../outputs/pages/grid.ts';
import { caseDifferenceInterval, pointsText, type RateComparison } from '../../statistics/compare-rates.ts';
import { type Interval, intervalText, passRateText, percentText } from '../../statistics/interval.ts';
import { type CaseRuns, isFlaky, passRate, type RateSummary, rateInterval } from '../../statistics/rates.ts';
import type { CaseChange } from '../baseline/compare-with-baseline.ts';
import { neededText, requiredRate } from '../cases/pass-rule.ts';
import type { EntryResult } from '../entry-result.ts';
import type { TestSummary } from '../test-summary.ts';

/** Returns the rate of all cases, that of each model, and their difference from the baseline. */
export function summaryRanges({ overall, models, baseline }: TestSummary): GridRange[] {
  return [
    ...(overall ? [summaryRange('all cases', overall)] : []),
    ...[...models].flatMap(([name, rate]) => (rate ? [summaryRange(name, rate)] : [])),
    ...(baseline?.rates ? [differenceRange(baseline.rates)] : []),
  ];
}

function summaryRange(label: string, { rate, interval }: RateSummary): GridRange {
  const text = `${percentText(Number(rate.toFixed(3)))} (${intervalText(interval)})`;
  return { label, text, value: rate, interval, min: 0, mark: undefined, tone: 'good' };
}

/** Returns the rate of a repeated case, and its difference from the baseline if either side repeats or it changed. */
export function caseRanges(
  { caseRuns, status, entry }: Pick<EntryResult, 'caseRuns' | 'status' | 'entry'>,
  change: CaseChange | undefined,
): GridRange[] {
  if (caseRuns === undefined) return [];
  const { pass } = entry.testCase;
  const { passed, runs } = caseRuns;
  const isRepeated = runs > 1 || status === 'undecided';
  const interval = rateInterval(caseRuns);
  const rate: GridRange = {
    label: 'passed',
    text: `${passRateText(passed, runs, interval)}, ${neededText(pass, runs)}`,
    value: passRate(caseRuns),
    interval,
    min: 0,
    mark: requiredRate(pass, runs),
    tone: status === 'passed' ? passedTone(caseRuns) : 'bad',
  };
  return [...(isRepeated ? [rate] : []), ...changeRanges(caseRuns, change, isRepeated)];
}

function passedTone(caseRuns: CaseRuns): GridRange['tone'] {
  return isFlaky(caseRuns) ? 'changed' : 'good';
}

function changeRanges(runsNow: CaseRuns, change: CaseChange | undefined, isRepeated: boolean): GridRange[] {
  const { before, kind } = change ?? {};
  if (before === undefined || (kind === 'same' && !isRepeated && before.runs === 1)) return [];
  const difference = passRate(runsNow) - passRate(before);
  return [differenceRange({ difference, interval: caseDifferenceInterval(before, runsNow) })];
}

function differenceRange({
  difference,
  interval,
}: Pick<RateComparison, 'difference' | 'interval'>): GridRange {
  const [low, high] = interval;
  return {
    label: 'since the baseline',
    text: `${pointsText(difference)} points (${pointsText(low)} to ${pointsText(high)})`,
    value: difference,
    interval,
    min: -1,
    mark: 0,
    tone: rangeTone(interval),
  };
}

function rangeTone([low, high]: Interval): GridRange['tone'] {
  if (high < 0) return 'bad';
  return low > 0 ? 'good' : 'changed';
}
