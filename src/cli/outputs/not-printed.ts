import type { Connection } from '../context.ts';
import { CliError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';

/** A run with the service that created it. */
export interface PaidRun {
  readonly runId: string;
  /** The connection to the service that made it; undefined if that service can't be asked. */
  readonly connection: Connection | undefined;
}

/** Returns the error for results that were not printed; undefined if no run was made. */
export function notPrintedError(runs: readonly PaidRun[], reason: string): CliError | undefined {
  const [first, ...otherRuns] = runs;
  if (first === undefined) return undefined;

  const { runId, connection } = first;
  const getCommand =
    connection?.formatCommand('runs', 'get', runId) ?? `promptrun runs get ${runId}`;
  const isSingle = otherRuns.length === 0;
  const subject = isSingle
    ? `the result of run ${runId} was`
    : `the results of ${runs.length} runs were`;
  const otherRunsNote = `The other runs: ${otherRuns.map(run => run.runId).join(' ')}`;

  return new CliError(`${subject} not printed: ${reason}`, {
    status: 'FILE_ERROR',
    exitCode: EXIT.fault,
    hints: isSingle
      ? [`Get it with: ${getCommand}`]
      : [`Get the first one with: ${getCommand}`, otherRunsNote],
    data: isSingle ? { runId } : { runIds: runs.map(run => run.runId) },
  });
}
