import { CliError } from '../core/errors.ts';
import { EXIT, type ExitCode } from '../core/exit-codes.ts';
import { pluralize } from '../core/pluralize.ts';
import { formatResumeHint } from '../creation/spending/caps.ts';
import { areUnanswered, nobodyAnsweredError, type RequestResult } from '../jobs/run-requests.ts';
import { type ComparedRow, computeRowVerdict, wasAttempted } from './compared-row.ts';
import { findJudgingFault } from './judge-rows.ts';
import type { ShownComparison } from './present-comparison.ts';

/**
 * Throws an error if a comparison reached a cap, left rows that were not run or judged, or got no
 * answer at all.
 */
export function throwIfComparisonUnfinished({
  budget,
  comparedRows,
  judgements,
}: Pick<ShownComparison, 'budget' | 'comparedRows' | 'judgements'>): void {
  if (budget.capError !== undefined) throw stoppedComparisonError(budget.capError, comparedRows);
  throwIfPostponed(comparedRows);
  const judgingFault = judgements && findJudgingFault(judgements);
  if (judgingFault) {
    throw new CliError(`some answers could not be judged: ${judgingFault.message}`, judgingFault);
  }
  if (areUnanswered(comparedRows.flatMap(({ results }) => results))) throw nobodyAnsweredError();
}

/** Returns the error of a comparison that a cap stopped, with the number of rows not run. */
function stoppedComparisonError(capError: CliError, rows: readonly ComparedRow[]): CliError {
  const { message, status, exitCode, data } = capError;
  const notRunCount = rows.filter(({ results }) => !results.every(wasAttempted)).length;
  return new CliError(`${message}; ${pluralize(notRunCount, 'row')} not done`, {
    status,
    exitCode,
    data,
    hints: [formatResumeHint(capError)],
  });
}

/** Throws an error with the fault that postponed rows, and their number. */
function throwIfPostponed(rows: readonly ComparedRow[]): void {
  const postponedResults = rows.flatMap(({ results }) => results.filter(isPostponedResult));
  const fault = postponedResults[0]?.fault;
  if (fault === undefined) return;

  const postponedCount = rows.filter(({ results }) => results.some(isPostponedResult)).length;
  const { message, status, exitCode, data, hints } = fault;
  throw new CliError(`${message}; ${pluralize(postponedCount, 'row')} left`, {
    status,
    exitCode,
    data,
    hints: [...hints, 'To continue, add --resume to the same command.'],
  });
}

function isPostponedResult({ isPostponed = false }: RequestResult): boolean {
  return isPostponed;
}

/**
 * Returns the exit code: that of the first fault if a row could not run, otherwise the one that
 * `--fail-on` asks for.
 */
export function getComparisonExitCode(
  rows: readonly ComparedRow[],
  failOn: string | undefined,
): ExitCode {
  const [fault] = rows.flatMap(({ results }) => results.flatMap(result => result.fault ?? []));
  if (fault !== undefined) return fault.exitCode;
  if (failOn !== 'changed' && failOn !== 'failed') return EXIT.ok;

  const verdicts = new Set(rows.map(computeRowVerdict));
  const failsCommand = verdicts.has('failed') || (failOn === 'changed' && verdicts.has('changed'));
  return failsCommand ? EXIT.runFailed : EXIT.ok;
}
