import { formatInterval, formatPercent } from '../../statistics/interval.ts';
import { type RateSummary, summarizeRates } from '../../statistics/rates.ts';
import {
  type BaselineComparison,
  formatBaselineComparison,
} from '../baseline/compare-with-baseline.ts';
import type { RepeatOptions } from '../cases/repeat-cases.ts';
import { type EntryResult, formatModelLabel } from '../entry-result.ts';

/** The pass rates of a test with their intervals, without cases that could not be run. */
export interface TestSummary {
  /** The rate over all cases of all models; undefined if no case could be run. */
  readonly overall: RateSummary | undefined;
  /** The rate of each model, if there are several. */
  readonly models: ReadonlyMap<string, RateSummary | undefined>;
  /** True if a case ran more than once. */
  readonly isRepeated: boolean;
  /** Maximum number of runs of a case under `--sure`; undefined without it. */
  readonly sureMaxRepeat: number | undefined;
  /** undefined without `--baseline`. */
  readonly baseline: BaselineComparison | undefined;
}

/** The name in reports of the prompt's own model, if it is tested next to others. */
export const OWN_MODEL = "the prompt's own model";

/** Computes the pass rates of a test, over all cases and for each model. */
export function summarize(
  results: readonly EntryResult[],
  { sure, maxRepeat }: RepeatOptions,
  baseline: BaselineComparison | undefined,
): TestSummary {
  const models = [...new Set(results.map(({ entry }) => formatModelLabel(entry)))];
  const rateByModel = models.map(model => {
    const resultsOfModel = results.filter(({ entry }) => formatModelLabel(entry) === model);
    return [model ?? OWN_MODEL, summarizeResults(resultsOfModel)] as const;
  });
  return {
    overall: summarizeResults(results),
    models: new Map(models.length < 2 ? [] : rateByModel),
    isRepeated: results.some(({ caseRuns }) => (caseRuns?.runs ?? 0) > 1),
    sureMaxRepeat: sure ? maxRepeat : undefined,
    baseline,
  };
}

function summarizeResults(results: readonly EntryResult[]): RateSummary | undefined {
  return summarizeRates(results.flatMap(({ caseRuns }) => caseRuns ?? []));
}

/**
 * Returns a line about all cases, one for each model if there are several, and the verdict of a
 * comparison.
 */
export function formatSummary({ overall, models, baseline }: TestSummary): string[] {
  const lines = [
    overall && formatRateLine(overall),
    ...[...models].map(([name, rate]) => rate && `${name}: ${formatRateLine(rate)}`),
    ...(baseline ? formatBaselineComparison(baseline) : []),
  ];
  return lines.filter(line => line !== undefined);
}

function formatRateLine({ rate, interval, passK }: RateSummary): string {
  const [maxTries = 1, chance = rate] = [...passK].at(-1) ?? [];
  const chanceText = formatPercent(Number(chance.toFixed(3)));
  const tries = maxTries === 1 ? '' : `; all of ${maxTries} tries pass: ${chanceText}`;
  return `${formatPercent(Number(rate.toFixed(3)))} passed; the true rate is probably between ${formatInterval(interval).replace('–', ' and ')}${tries}`;
}
