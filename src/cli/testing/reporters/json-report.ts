import { toCount } from '../../../files/formats/json-fields.ts';
import type { Totals } from '../../creation/spending/totals.ts';
import {
  type CaseRuns,
  computePassRate,
  computeRateInterval,
  isFlaky,
  type RateSummary,
} from '../../statistics/rates.ts';
import type { BaselineComparison } from '../baseline/compare-with-baseline.ts';
import { toPassRuleData } from '../cases/pass-rule.ts';
import {
  countStatuses,
  type EntryResult,
  formatModelLabel,
  type Repetition,
} from '../entry-result.ts';
import type { TestSummary } from './test-summary.ts';

/** Returns the results as data: totals, spending, and each case with its repetitions. */
export function buildJsonReport(
  results: readonly EntryResult[],
  spentTotals: Totals,
  { overall, models, sureMaxRepeat, baseline }: TestSummary,
): object {
  return {
    ...countStatuses(results),
    summary: toRateData(overall),
    ...(models.size > 0 && {
      models: Object.fromEntries([...models].map(([name, rate]) => [name, toRateData(rate)])),
    }),
    sure: sureMaxRepeat === undefined ? null : { maxRepeat: sureMaxRepeat },
    ...(baseline && { baseline: toBaselineData(baseline) }),
    totals: spentTotals,
    cases: results.map(({ entry, status, repetitions, seconds, caseRuns }) => ({
      file: entry.file.name,
      line: entry.testCase.line,
      name: entry.testCase.name,
      model: formatModelLabel(entry) ?? null,
      status,
      seconds: repetitions.some(repetition => repetition.seconds === null) ? null : seconds,
      pass: toPassRuleData(entry.testCase.passRule, repetitions.length),
      ...toCaseRunsData(caseRuns),
      repetitions: repetitions.map(toRepetitionData),
    })),
  };
}

/** Returns a comparison as data; figures are null if no case could be compared. */
function toBaselineData({
  rates,
  better,
  worse,
  same,
  new: added,
  gone,
}: BaselineComparison): object {
  const {
    verdict = null,
    pValue: p = null,
    difference = null,
    interval = null,
    smallestDetectable: smallest = null,
  } = rates ?? {};
  return { verdict, p, difference, interval, smallest, better, worse, same, new: added, gone };
}

/** Returns a rate as data; figures are null if no case could be run. */
function toRateData(summary: RateSummary | undefined): object {
  if (summary === undefined) return { rate: null, interval: null, passK: {} };
  const { rate, interval, passK } = summary;
  return { rate, interval, passK: Object.fromEntries(passK) };
}

function toCaseRunsData(caseRuns: CaseRuns | undefined): object {
  if (caseRuns === undefined) {
    return { passed: null, runs: null, rate: null, interval: null, flaky: false };
  }
  const { passed, runs } = caseRuns;
  return {
    passed,
    runs,
    rate: computePassRate(caseRuns),
    interval: computeRateInterval(caseRuns),
    flaky: isFlaky(caseRuns),
  };
}

function toRepetitionData({ run, seconds, mismatches, fault }: Repetition): object {
  return {
    runId: run?.runId ?? null,
    runStatus: run?.runStatus ?? null,
    tokens: toCount(run?.tokens) ?? null,
    outputs: run?.outputs ?? [],
    seconds,
    mismatches,
    error:
      fault === undefined
        ? null
        : { status: fault.status, message: fault.message, exitCode: fault.exitCode },
  };
}
