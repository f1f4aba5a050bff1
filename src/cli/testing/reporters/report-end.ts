import type { Context } from '../../context.ts';
import type { CliError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-codes.ts';
import { pluralize } from '../../core/pluralize.ts';
import { formatResumeHint } from '../../creation/spending/caps.ts';
import { wasStopped } from '../../outputs/run-errors.ts';
import { failsGate, type TestGate } from '../../statistics/verdict-gate.ts';
import { reportFailure } from '../../terminal/report-failure.ts';
import type { BaselineComparison } from '../baseline/compare-with-baseline.ts';
import type { TestFile } from '../cases/test-case.ts';
import { type EntryResult, type FaultyTestFile, isCapped } from '../entry-result.ts';

/** Reports a fault of a test file or a test on standard error. */
export function reportTestFault(ctx: Context, fault: FaultyTestFile['fault']): void {
  reportFailure(ctx.io, fault, {
    json: ctx.globals.json,
    debug: false,
    error: undefined,
    paint: ctx.io.paintErr,
  });
}

/** Reports the cases that were not run because of a cap, and how to continue. */
export function reportCap(
  ctx: Context,
  { message, data }: CliError,
  results: readonly EntryResult[],
): void {
  const cappedCount = results.filter(isCapped).length;
  if (cappedCount === 0) return;

  const hints = [formatResumeHint({ data })];
  const cappedCases = pluralize(cappedCount, 'case');
  const failure = {
    status: 'CAP_REACHED',
    message: `${message}; ${cappedCases} not done`,
    data,
    exitCode: EXIT.capReached,
    hints,
  };
  reportTestFault(ctx, failure);
}

/** Reports the fault that postponed cases, once. */
export function reportPostponedCases(ctx: Context, results: readonly EntryResult[]): void {
  const postponedResults = results.filter(({ repetitions }) =>
    repetitions.some(({ isPostponed }) => isPostponed),
  );
  const fault = postponedResults
    .flatMap(({ repetitions }) => repetitions)
    .find(({ isPostponed }) => isPostponed)?.fault;
  if (fault === undefined) return;

  const { status, message, data, exitCode } = fault;
  const hints = [...fault.hints, 'To continue, add --resume to the same command.'];
  reportTestFault(ctx, {
    status,
    message: `${message}; ${pluralize(postponedResults.length, 'case')} left`,
    data,
    exitCode,
    hints,
  });
}

/** Reports the cases whose runs were stopped, and how to run them again. */
export function reportStoppedRuns(ctx: Context, results: readonly EntryResult[]): void {
  const stoppedResults = results.filter(({ repetitions }) =>
    repetitions.some(({ run }) => run && wasStopped(run)),
  );
  if (stoppedResults.length === 0 || ctx.isReplay) return;
  ctx.io.note(
    `note: the runs of ${pluralize(stoppedResults.length, 'case')} were stopped; --failed runs them again`,
  );
}

/** Reports how many answers were checked although they were cut short. */
export function reportTruncatedAnswers(ctx: Context, results: readonly EntryResult[]): void {
  const truncatedCount = results
    .flatMap(({ repetitions }) => repetitions)
    .filter(({ isTruncated }) => isTruncated).length;
  if (truncatedCount === 0) return;
  const treatment =
    truncatedCount === 1 ? 'it was checked as it came' : 'they were checked as they came';
  ctx.io.note(
    `note: the token limit cut ${pluralize(truncatedCount, 'answer')} short; ${treatment}, as promptfoo does`,
  );
}

/** Reports the checks and cases that were left out, and if that was all of them. */
export function reportOmissions(
  ctx: Context,
  files: readonly TestFile[],
  results: readonly EntryResult[],
): void {
  const caseCount = files.reduce((sum, { leftOutCaseCount = 0 }) => sum + leftOutCaseCount, 0);
  const checkCount = files
    .flatMap(file => file.cases)
    .reduce((sum, { leftOutCheckCount = 0 }) => sum + leftOutCheckCount, 0);
  if (caseCount + checkCount > 0) {
    ctx.io.note(
      `note: left out: ${pluralize(checkCount, 'check')}, ${pluralize(caseCount, 'case')}`,
    );
  }

  if (!isNothingChecked(results)) return;

  const failure = {
    status: 'USAGE_ERROR',
    message: 'nothing was checked: all checks were left out',
    data: undefined,
    exitCode: EXIT.usage,
    hints: [],
  };
  reportTestFault(ctx, failure);
}

function isNothingChecked(results: readonly EntryResult[]): boolean {
  return results.length > 0 && results.every(({ status }) => status === 'unchecked');
}

/**
 * Returns the exit code of tests. A timeout outranks a cap, which outranks cases that could not be
 * run, which outrank failed ones.
 */
export function getTestsExitCode(
  results: readonly EntryResult[],
  gate: TestGate,
  comparison: BaselineComparison | undefined,
): ExitCode {
  const faults = results
    .flatMap(({ repetitions }) => repetitions)
    .flatMap(({ fault }) => fault ?? []);
  const codes = faults.map(({ exitCode }) => exitCode);
  const worstCode =
    [EXIT.waitTimeout, EXIT.capReached].find(code => codes.includes(code)) ?? codes[0];
  if (worstCode !== undefined) return worstCode;

  if (gate.failOn !== 'failed') {
    return failsGate(gate, comparison?.rates) ? EXIT.runFailed : EXIT.ok;
  }

  if (isNothingChecked(results)) return EXIT.usage;

  const haveAllPassed = results.every(
    ({ status }) => status === 'passed' || status === 'unchecked',
  );
  return haveAllPassed ? EXIT.ok : EXIT.runFailed;
}
