import { LinkFault } from '../../../files/writing/write-below.ts';
import type { Context } from '../../context.ts';
import { CliError, Interrupted, TimeIsUp, waitTimeoutError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-codes.ts';
import { toFailure } from '../../core/failure.ts';
import { pluralize } from '../../core/pluralize.ts';
import { formatResumeHint } from '../../creation/caps.ts';
import { adviseListSince } from '../../creation/in-doubt.ts';
import { formatSpentLines } from '../../creation/spending-text.ts';
import { nobodyAnsweredError } from '../../jobs/run-requests.ts';
import { printValue } from '../../outputs/print-json.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import type { RunningBatch } from '../finish-row.ts';
import type { Tally } from '../progress/row-tally.ts';

const RETRY_HINT = 'Run the failed ones again with: --resume --retry-failed';

/**
 * Brings the files into their final form, reports the end of a batch and returns its exit code.
 *
 * @param rows the number of rows; undefined if unknown
 * @throws {Interrupted}
 * @throws {LinkFault} if an output was not saved because of a link
 */
export async function concludeBatch(
  ctx: Context,
  runningBatch: RunningBatch,
  rows: number | undefined,
): Promise<ExitCode> {
  const { options, tally, stop, results, journal, budget } = runningBatch;
  const { out, stream } = options;
  const counts = countRows(tally, rows);

  const isComplete =
    counts.inDoubt + counts.goingOn === 0 && counts.notDone === 0 && stop.hasReader;
  if (isComplete) {
    await results.finish(options.sorted);
    await journal.remove();
  }

  const isStopped = stop.interruptedBy !== undefined || ctx.signal.aborted || !stop.hasReader;
  const totals = await budget.readTotals({ readsList: !isStopped && stop.reason === undefined });
  if ((out ?? stream) !== undefined && ctx.globals.json) {
    await printValue(ctx, { ...counts, totals });
  }

  const interruption = interruptionError(ctx, runningBatch, { counts, isComplete });
  if (interruption === undefined) reportCounts(runningBatch, counts);
  for (const line of formatSpentLines(budget, 'rows')) ctx.io.note(`note: ${line}`);
  if (interruption !== undefined) throw interruption;

  refuseUnfinishedBatch(runningBatch, counts);
  return counts.succeeded === rows ? EXIT.ok : getFailedExitCode(runningBatch);
}

/** Refuses a batch that a fault or a cap stopped, or whose outputs a link kept from being saved. */
function refuseUnfinishedBatch(
  { options: { out }, stop, budget, tally }: RunningBatch,
  counts: RowCounts,
): void {
  const isLeft = counts.notDone !== 0 || counts.goingOn > 0;
  if (stop.fault !== undefined && isLeft) throw stoppedAtFaultError(stop.fault, out, counts);
  if (budget.reached !== undefined && counts.notDone !== 0) {
    throw stoppedAtCapError(budget.reached, out, counts);
  }
  if (tally.link !== undefined) throw new LinkFault(tally.link);
}

/**
 * Returns the exit code of a batch in which rows failed.
 *
 * @throws {CliError} if no model answered any row
 */
function getFailedExitCode({ batch, tally }: RunningBatch): ExitCode {
  if (tally.unanswered > 0 && tally.unanswered === tally.ended) throw nobodyAnsweredError();
  // Any answer of the service shows this, so there was none.
  const { embedded, client } = batch.connection;
  const isUnanswered =
    !embedded && tally.now['in doubt'] > 0 && client.keepsIdempotencyKeys === undefined;
  return isUnanswered ? EXIT.fault : EXIT.runFailed;
}

/** Returns the error if something from outside ended the batch early. */
function interruptionError(
  { signal }: Context,
  { options: { out, stream }, stop, journal, tally }: RunningBatch,
  { counts, isComplete }: { readonly counts: RowCounts; readonly isComplete: boolean },
): CliError | undefined {
  const hints =
    out === undefined
      ? []
      : [...(isComplete ? [] : [resumeHint(out)]), ...(tally.stopped > 0 ? [RETRY_HINT] : [])];
  const message = formatCounts(counts, tally.before);
  if (stop.interruptedBy !== undefined) {
    return new Interrupted(stop.interruptedBy, hints, { message });
  }

  if (signal.reason instanceof TimeIsUp && (!isComplete || tally.stopped > 0)) {
    return waitTimeoutError(`gave up waiting; ${message}`, { hints });
  }

  if (stop.hasReader || counts.succeeded === 0) return undefined;

  // Some runs were paid for, but nobody read their results.
  return new CliError(
    `${stream ?? 'standard output'} was closed before every result was written: ${message}`,
    {
      status: 'FILE_ERROR',
      exitCode: EXIT.fault,
      hints: [`The journal names the runs that were made: ${journal.file}`],
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
  const left = notDone === null ? 'the other rows are left' : `${pluralize(notDone, 'row')} left`;
  return new CliError(`${message}; ${left}`, {
    ...failure,
    hints: [...hints, ...(out === undefined ? [] : [resumeHint(out)])],
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
 * Returns the hints for a batch without results file, whose next invocation pays for every row
 * again.
 */
function listUnresumableHints(reached: CliError, done: number): readonly string[] {
  if (done === 0) return reached.hints;
  return [
    "Without --out the batch can't be resumed, and the same command pays for all of its rows again.",
    'Run it for the other rows only; with --out, it can be resumed.',
  ];
}

type RowCounts = ReturnType<typeof countRows>;

function countRows({ before, now, done }: Tally, rows: number | undefined) {
  return {
    rows: rows ?? null,
    succeeded: before.succeeded + now.succeeded,
    failed: before.failed + now.failed,
    inDoubt: before['in doubt'] + now['in doubt'],
    goingOn: before.running + now.running,
    done,
    /** null if the number of rows is unknown. */
    notDone: rows === undefined ? null : rows - done,
  };
}

/** Formats the counts: first those of this invocation, then those of earlier ones. */
function formatCounts(
  { rows, succeeded, failed, inDoubt, goingOn, notDone }: RowCounts,
  countsBefore: Tally['before'],
): string {
  const now = succeeded - countsBefore.succeeded;
  const rowsNow = rows === null ? pluralize(now, 'row') : `${now} of ${rows} rows`;
  const parts = [
    [inDoubt, 'in doubt'],
    [goingOn, 'still running'],
    [notDone ?? 0, 'not done'],
  ] as const;

  return [
    formatNowAndBefore(`${rowsNow} succeeded`, countsBefore.succeeded),
    ...(failed > 0
      ? [formatNowAndBefore(`${failed - countsBefore.failed} failed`, countsBefore.failed)]
      : []),
    ...parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`),
  ].join(', ');
}

function formatNowAndBefore(text: string, before: number): string {
  return before === 0 ? text : `${text} now, ${before} before`;
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

  const none = `${source.name} has no rows${options.shard === undefined ? '' : ' in this shard'}`;
  io.note(`note: ${counts.rows === 0 ? none : formatCounts(counts, tally.before)}`);
  if (out === undefined) return;

  const { failed, inDoubt, goingOn, notDone } = counts;

  // A replay would return the same answers.
  if (failed > 0 && (!ctx.isReplay || tally.faulty > 0)) {
    // Corrected rows count as new ones, because their ids or columns may differ.
    io.note(tally.faulty > 0 ? `Correct the faulty rows. ${RETRY_HINT} --new-rows` : RETRY_HINT);
  }

  if (inDoubt > 0) io.note(formatDoubtHint(batch, tally));
  const isExplained = budget.reached !== undefined || stop.fault !== undefined;
  if (!isExplained && (goingOn > 0 || notDone !== 0)) io.note(resumeHint(out));
}

function formatDoubtHint({ connection }: RunningBatch['batch'], { earliestDoubt }: Tally): string {
  const look =
    earliestDoubt === undefined
      ? connection.advise('runs', 'list')
      : adviseListSince(connection, earliestDoubt);
  return `A row in doubt may have a run. Look for it with: ${look}. To run such rows again, add --resume --retry-unknown.`;
}

function resumeHint(out: string): string {
  return `To continue, add --resume to the same command; ${out} has the results so far.`;
}
