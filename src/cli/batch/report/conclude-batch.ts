import { LinkFault } from '../../../files/writing/write-below.ts';
import type { Context } from '../../context.ts';
import { CliError, InterruptedError, TimeLimitError, waitTimeoutError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-codes.ts';
import { toFailure } from '../../core/failure.ts';
import { pluralize } from '../../core/pluralize.ts';
import { formatListSinceCommand } from '../../creation/in-doubt.ts';
import { formatResumeHint } from '../../creation/spending/caps.ts';
import { formatSpentLines } from '../../creation/spending/spending-text.ts';
import { nobodyAnsweredError } from '../../jobs/run-requests.ts';
import { printValue } from '../../outputs/print-json.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import type { RunningBatch } from '../finish-row.ts';
import type { RowTally } from '../progress/row-tally.ts';

const RETRY_HINT = 'Run the failed ones again with: --resume --retry-failed';

/**
 * Brings the files into their final form, reports the end of a batch and returns its exit code.
 *
 * @param rowCount undefined if unknown
 * @throws {InterruptedError}
 * @throws {LinkFault} if an output was not saved because of a link
 */
export async function concludeBatch(
  ctx: Context,
  runningBatch: RunningBatch,
  rowCount: number | undefined,
): Promise<ExitCode> {
  const { options, tally, stop, results, journal, budget } = runningBatch;
  const { out, stream } = options;
  const counts = countRows(tally, rowCount);

  const areAllRowsDone = counts.inDoubt === 0 && counts.goingOn === 0 && counts.notDone === 0;
  const isComplete = areAllRowsDone && stop.hasReader;
  if (isComplete) {
    await results.finish(options.sorted);
    await journal.remove();
  }

  const isStopped = stop.interruptedBy !== undefined || ctx.signal.aborted || !stop.hasReader;
  const totals = await budget.readTotals({ readsList: !isStopped && stop.reason === undefined });
  if ((out ?? stream) !== undefined && ctx.globals.json) {
    await printValue(ctx, { ...counts, totals });
  }

  const interruption = findInterruption(ctx, runningBatch, { counts, isComplete });

  // The message of an interruption holds the counts.
  if (interruption === undefined) reportCounts(runningBatch, counts);
  for (const line of formatSpentLines(budget, 'rows')) ctx.io.note(`note: ${line}`);
  if (interruption !== undefined) throw interruption;

  throwIfBatchStopped(runningBatch, counts);
  return counts.succeeded === rowCount ? EXIT.ok : getFailedExitCode(runningBatch);
}

/** Throws if a fault or a cap stopped the batch, or a link kept outputs from being saved. */
function throwIfBatchStopped(
  { options: { out }, stop, budget, tally }: RunningBatch,
  counts: RowCounts,
): void {
  const hasRowsLeft = counts.notDone !== 0 || counts.goingOn > 0;
  if (stop.fault !== undefined && hasRowsLeft) throw stoppedAtFaultError(stop.fault, out, counts);
  if (budget.capError !== undefined && counts.notDone !== 0) {
    throw stoppedAtCapError(budget.capError, out, counts);
  }
  if (tally.refusedLink !== undefined) throw new LinkFault(tally.refusedLink);
}

/**
 * Returns the exit code of a batch in which rows failed.
 *
 * @throws {CliError} if no model answered any row
 */
function getFailedExitCode({ batch, tally }: RunningBatch): ExitCode {
  if (tally.unansweredCount > 0 && tally.unansweredCount === tally.endedCount) {
    throw nobodyAnsweredError();
  }

  // Any answer of the service shows whether it keeps keys.
  const { isEmbedded, client } = batch.connection;
  const hasAnswered = isEmbedded || client.keepsIdempotencyKeys !== undefined;
  return tally.countsNow['in doubt'] > 0 && !hasAnswered ? EXIT.fault : EXIT.runFailed;
}

/** Returns the error if a signal, `--timeout` or a missing reader ended the batch early. */
function findInterruption(
  { signal }: Context,
  { options: { out, stream }, stop, journal, tally }: RunningBatch,
  { counts, isComplete }: { readonly counts: RowCounts; readonly isComplete: boolean },
): CliError | undefined {
  const hints: string[] = [];
  if (out !== undefined && !isComplete) hints.push(formatResultsResumeHint(out));
  if (out !== undefined && tally.stoppedCount > 0) hints.push(RETRY_HINT);

  const message = formatCounts(counts, tally.countsBefore);
  if (stop.interruptedBy !== undefined) {
    return new InterruptedError(stop.interruptedBy, hints, { message });
  }

  if (signal.reason instanceof TimeLimitError && (!isComplete || tally.stoppedCount > 0)) {
    return waitTimeoutError(`gave up waiting; ${message}`, { hints });
  }

  if (stop.hasReader || counts.succeeded === 0) return undefined;

  // Some runs were paid for, but nobody read their results.
  return new CliError(
    `${stream ?? 'standard output'} was closed before every result was written: ${message}`,
    {
      status: 'FILE_ERROR',
      exitCode: EXIT.fault,
      hints: [`The journal names the runs that were made: ${journal.filePath}`],
    },
  );
}

/** Returns the error for rows that a fault postponed, which `--resume` runs. */
function stoppedAtFaultError(
  fault: unknown,
  out: string | undefined,
  { notDone }: RowCounts,
): CliError {
  const { message, hints, ...failure } = toFailure(fault);
  const remainder =
    notDone === null ? 'the other rows are left' : `${pluralize(notDone, 'row')} left`;
  return new CliError(`${message}; ${remainder}`, {
    ...failure,
    hints: out === undefined ? hints : [...hints, formatResultsResumeHint(out)],
    cause: fault,
  });
}

function stoppedAtCapError(
  capError: CliError,
  out: string | undefined,
  { notDone, done }: RowCounts,
): CliError {
  const { status, exitCode, data } = capError;
  return new CliError(`${capError.message}; ${pluralize(notDone ?? 'some', 'row')} not done`, {
    status,
    exitCode,
    data,
    hints: out === undefined ? listUnresumableHints(capError, done) : [formatResumeHint(capError)],
  });
}

/**
 * Lists the hints for a batch without a file of results, whose next invocation pays for every row
 * again.
 */
function listUnresumableHints(capError: CliError, done: number): readonly string[] {
  if (done === 0) return capError.hints;
  return [
    "Without --out the batch can't be resumed, and the same command pays for all of its rows again.",
    'Run it for the other rows only; with --out, it can be resumed.',
  ];
}

type RowCounts = ReturnType<typeof countRows>;

function countRows({ countsBefore, countsNow, doneCount }: RowTally, rowCount: number | undefined) {
  return {
    rows: rowCount ?? null,
    succeeded: countsBefore.succeeded + countsNow.succeeded,
    failed: countsBefore.failed + countsNow.failed,
    inDoubt: countsBefore['in doubt'] + countsNow['in doubt'],
    goingOn: countsBefore.running + countsNow.running,
    done: doneCount,
    /** null if the number of rows is unknown. */
    notDone: rowCount === undefined ? null : rowCount - doneCount,
  };
}

/** Formats the counts: first those of this invocation, then those of earlier ones. */
function formatCounts(
  { rows, succeeded, failed, inDoubt, goingOn, notDone }: RowCounts,
  countsBefore: RowTally['countsBefore'],
): string {
  const succeededNow = succeeded - countsBefore.succeeded;
  const rowsNow =
    rows === null ? pluralize(succeededNow, 'row') : `${succeededNow} of ${rows} rows`;

  const clauses = [formatNowAndBefore(`${rowsNow} succeeded`, countsBefore.succeeded)];
  if (failed > 0) {
    clauses.push(formatNowAndBefore(`${failed - countsBefore.failed} failed`, countsBefore.failed));
  }

  if (inDoubt > 0) clauses.push(`${inDoubt} in doubt`);
  if (goingOn > 0) clauses.push(`${goingOn} still running`);
  if (notDone !== null && notDone > 0) clauses.push(`${notDone} not done`);
  return clauses.join(', ');
}

function formatNowAndBefore(countNow: string, countBefore: number): string {
  return countBefore === 0 ? countNow : `${countNow} now, ${countBefore} before`;
}

function reportCounts(
  { ctx, options, source, batch, tally, stop, budget }: RunningBatch,
  counts: RowCounts,
): void {
  const { io } = ctx;
  const { out } = options;

  if (stop.reason !== undefined) {
    io.error(`error: no more rows were started: ${toOneLine(stop.reason)}`);
  }

  if (counts.rows === 0) {
    const shardText = options.shard === undefined ? '' : ' in this shard';
    io.note(`note: ${source.name} has no rows${shardText}`);
  } else {
    io.note(`note: ${formatCounts(counts, tally.countsBefore)}`);
  }

  if (out === undefined) return;

  const { failed, inDoubt, goingOn, notDone } = counts;

  // A replay would return the same answers.
  if (failed > 0 && (!ctx.isReplay || tally.faultyCount > 0)) {
    // Corrected rows count as new ones, because their ids or columns may differ.
    io.note(
      tally.faultyCount > 0 ? `Correct the faulty rows. ${RETRY_HINT} --new-rows` : RETRY_HINT,
    );
  }

  if (inDoubt > 0) io.note(formatDoubtHint(batch, tally));
  const isExplained = budget.capError !== undefined || stop.fault !== undefined;
  if (!isExplained && (goingOn > 0 || notDone !== 0)) io.note(formatResultsResumeHint(out));
}

function formatDoubtHint(
  { connection }: RunningBatch['batch'],
  { earliestDoubt }: RowTally,
): string {
  const listCommand =
    earliestDoubt === undefined
      ? connection.formatCommand('runs', 'list')
      : formatListSinceCommand(connection, earliestDoubt);
  return `A row in doubt may have a run. Look for it with: ${listCommand}. To run such rows again, add --resume --retry-unknown.`;
}

function formatResultsResumeHint(out: string): string {
  return `To continue, add --resume to the same command; ${out} has the results so far.`;
}
