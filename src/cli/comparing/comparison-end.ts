import { CliError } from '../core/errors.ts';
import { EXIT, type ExitCode } from '../core/exit-codes.ts';
import { pluralize } from '../core/pluralize.ts';
import { formatResumeHint } from '../creation/caps.ts';
import { areUnanswered, nobodyAnsweredError } from '../jobs/run-requests.ts';
import { type ComparedRow, computeRowVerdict, wasRun } from './compared-row.ts';
import { findJudgingFault } from './judge-rows.ts';
import type { ShownComparison } from './present-comparison.ts';

/**
 * Throws if a comparison reached a cap, has rows that were not run or judged, or none of its models
 * answered.
 */
export function refuseUnfinishedComparison({
  budget,
  compared,
  judgements,
}: Pick<ShownComparison, 'budget' | 'compared' | 'judgements'>): void {
  if (budget.reached !== undefined) throw capError(budget.reached, compared);
  refusePostponed(compared);
  const unjudged = judgements && findJudgingFault(judgements);
  if (unjudged) {
    throw new CliError(`some answers could not be judged: ${unjudged.message}`, unjudged);
  }
  if (areUnanswered(compared.flatMap(({ results }) => results))) throw nobodyAnsweredError();
}

/**
 * Returns the error of a comparison that reached the cap, with the number of rows that were not
 * run.
 */
function capError(capReached: CliError, rows: readonly ComparedRow[]): CliError {
  const { status, exitCode, data } = capReached;
  const rowsLeft = rows.filter(({ results }) => !results.every(wasRun)).length;
  const message = `${capReached.message}; ${pluralize(rowsLeft, 'row')} not done`;
  return new CliError(message, { status, exitCode, data, hints: [formatResumeHint(capReached)] });
}

/**
 * Throws if rows of a comparison were not run.
 *
 * @throws {CliError} the fault that stopped them, with their number
 */
function refusePostponed(rows: readonly ComparedRow[]): void {
  const rowsLeft = rows.filter(({ results }) => results.some(({ isPostponed }) => isPostponed));
  const fault = rowsLeft
    .flatMap(({ results }) => results)
    .find(({ isPostponed }) => isPostponed)?.fault;
  if (fault === undefined) return;

  const { status, message, exitCode, data, hints } = fault;
  throw new CliError(`${message}; ${pluralize(rowsLeft.length, 'row')} left`, {
    status,
    exitCode,
    data,
    hints: [...hints, 'To continue, add --resume to the same command.'],
  });
}

/**
 * Returns the exit code. If a row could not run, it is the code of that fault, even with
 * `--fail-on`.
 */
export function getComparisonExitCode(
  rows: readonly ComparedRow[],
  failOn: string | undefined,
): ExitCode {
  const fault = rows
    .flatMap(({ results }) => results)
    .find(result => result.fault !== undefined)?.fault;
  if (fault !== undefined) {
    return fault.exitCode;
  }

  const verdicts = new Set(rows.map(computeRowVerdict));
  const counts = failOn === 'changed' || failOn === 'failed';
  const isFailed = verdicts.has('failed') || (failOn === 'changed' && verdicts.has('changed'));
  return counts && isFailed ? EXIT.runFailed : EXIT.ok;
}
