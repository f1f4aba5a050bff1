import { asCount } from '../../../files/formats/json-fields.ts';
import type { Totals } from '../../creation/totals.ts';
import { type CaseRuns, isFlaky, passRate, type RateSummary, rateInterval } from '../../statistics/rates.ts';
import type { BaselineComparison } from '../baseline/compare-with-baseline.ts';
import { passRuleData } from '../cases/pass-rule.ts';
import { type EntryResult, modelLabel, type Repetition, statusTotals } from '../entry-result.ts';
import type { TestSummary } from '../test-summary.ts';

/** Returns the results as data: totals, spending, and each case with its repetitions. */
export function jsonReport(
  results: readonly EntryResult[],
  spentTotals: Totals,
  { overall, models, sureMaxRepeat, baseline }: TestSummary,
): object {
  return {
    ...statusTotals(results),
    summary: rateData(overall),
    ...(models.size > 0 && {
      models: Object.fromEntries([...models].map(([name, rate]) => [name, rateData(rate)])),
    }),
    sure: sureMaxRepeat === undefined ? null : { maxRepeat: sureMaxRepeat },
    ...(baseline && { baseline: baselineData(baseline) }),
    totals: spentTotals,
    cases: results.map(({ entry, status, repetitions, seconds, caseRuns }) => ({
      file: entry.file.name,
      line: entry.testCase.line,
      name: entry.testCase.name,
      model: modelLabel(entry) ?? null,
      status,
      seconds: repetitions.some(repetition => repetition.seconds === null) ? null : seconds,
      pass: passRuleData(entry.testCase.pass, repetitions.length),
      ...caseRunsData(caseRuns),
      repetitions: repetitions.map(repetitionData),
    })),
  };
}

/** Returns a comparison as data; figures are null if no case could be compared. */
function baselineData({ rates, better, worse, same, new: added, gone }: BaselineComparison): object {
  const { verdict = null, p = null, difference = null, interval = null, smallest = null } = rates ?? {};
  return { verdict, p, difference, interval, smallest, better, worse, same, new: added, gone };
}

/** Returns a rate as data; figures are null if no case could be run. */
function rateData(summary: RateSummary | undefined): object {
  if (summary === undefined) return { rate: null, interval: null, passK: {} };
  const { rate, interval, passK } = summary;
  return { rate, interval, passK: Object.fromEntries(passK) };
}

function caseRunsData(caseRuns: CaseRuns | undefined): object {
  if (caseRuns === undefined) return { passed: null, runs: null, rate: null, interval: null, flaky: false };
  const { passed, runs } = caseRuns;
  return {
    passed,
    runs,
    rate: passRate(caseRuns),
    interval: rateInterval(caseRuns),
    flaky: isFlaky(caseRuns),
  };
}

function repetitionData({ run, seconds, mismatches, fault }: Repetition): object {
  return {
    runId: run?.runId ?? null,
    runStatus: run?.runStatus ?? null,
    tokens: asCount(run?.tokens) ?? null,
    outputs: run?.outputs ?? [],
    seconds,
    mismatches,
    error:
      fault === undefined ? null : { status: fault.status, message: fault.message, exitCode: fault.exitCode },
  };
}
