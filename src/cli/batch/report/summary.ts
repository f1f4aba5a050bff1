import type { Context } from '../../context.ts';
import type { Advise } from '../../core/types.ts';
import type { Budget } from '../../creation/budget.ts';
import { spendingText } from '../../creation/spending-text.ts';
import { CliError, Interrupted, TimeIsUp, waitTimeout } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { printValue, wantsJson } from '../../outputs/json.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import type { BatchOptions } from '../options.ts';
import type { Tally } from '../progress/tally.ts';
import type { Results } from '../results/results-line.ts';
import type { BatchJournal } from '../run/job-journal.ts';
import type { Stop } from '../run/stop.ts';

export interface BatchEnd {
  readonly tally: Tally;
  readonly stop: Stop;
  /** undefined where it is not known how many rows there are. */
  readonly rows: number | undefined;
  readonly results: Results;
  readonly journal: BatchJournal;
  readonly budget: Budget;
  readonly advise: Advise;
}

/** Brings the files into their final form, reports how a batch ended and returns its exit code. @throws {Interrupted} */
export async function conclude(ctx: Context, options: BatchOptions, end: BatchEnd): Promise<ExitCode> {
  const { out } = options;
  const { tally, stop, rows, results, journal, budget } = end;
  const counts = countsOf(tally, rows);
  const isComplete = counts.inDoubt + counts.goingOn === 0 && counts.notDone === 0 && stop.hasReader;
  if (isComplete) {
    await results.finish(options.sorted);
    await journal.remove();
  }
  const isStopped = stop.interruptedBy !== undefined || ctx.signal.aborted || !stop.hasReader;
  const totals = await budget.totals(!isStopped && stop.reason === undefined);
  if (out !== undefined && wantsJson(ctx)) await printValue(ctx, { ...counts, totals });
  if (stop.interruptedBy !== undefined) {
    throw new Interrupted(stop.interruptedBy, out === undefined ? [] : [goOn(out)], {
      message: summaryText(tally, rows),
    });
  }
  if (ctx.signal.reason instanceof TimeIsUp && !isComplete) {
    throw waitTimeout(`gave up waiting; ${summaryText(tally, rows)}`, {
      hints: out === undefined ? [] : [goOn(out)],
    });
  }
  if (!stop.hasReader && counts.succeeded > 0) throw readerHasGone(journal, summaryText(tally, rows));
  tellEnd(ctx, out, end);
  for (const line of spendingText(totals)) ctx.io.note(`note: ${line}`);
  if (budget.reached !== undefined && counts.notDone !== 0) throw stoppedAtCap(budget.reached, out, counts);
  return counts.succeeded === rows ? EXIT.ok : EXIT.runFailed;
}

function stoppedAtCap(reached: CliError, out: string | undefined, { notDone }: Counts): CliError {
  const { status, exitCode, data } = reached;
  const { flag } = data as { flag: string };
  const rows = notDone === 1 ? '1 row' : `${notDone ?? 'some'} rows`;
  return new CliError(`${reached.message}; ${rows} not done`, {
    status,
    exitCode,
    data,
    hints: out === undefined ? [] : [`Go on with the same command, --resume and ${flag} <more>.`],
  });
}

/** Runs were made and paid for whose results nobody took. */
function readerHasGone({ file }: BatchJournal, summary: string): CliError {
  return new CliError(`standard output was closed before every result was written: ${summary}`, {
    status: 'FILE_ERROR',
    exitCode: EXIT.fault,
    hints: [`The runs that were made are named in ${file}`],
  });
}

function tellEnd(ctx: Context, out: string | undefined, end: BatchEnd): void {
  const { tally, stop, rows } = end;
  if (stop.reason !== undefined) ctx.io.error(`error: no more rows were started: ${oneLine(stop.reason)}`);
  ctx.io.note(`note: ${summaryText(tally, rows)}`);
  if (out !== undefined) {
    for (const hint of hintsFor(out, end)) {
      ctx.io.note(hint);
    }
  }
}

type Counts = ReturnType<typeof countsOf>;

function countsOf({ before, now, done }: Tally, rows: number | undefined) {
  return {
    rows: rows ?? null,
    succeeded: before.succeeded + now.succeeded,
    failed: before.failed + now.failed,
    inDoubt: before['in doubt'] + now['in doubt'],
    goingOn: before['going on'] + now['going on'],
    /** null if it is not known how many rows there are. */
    notDone: rows === undefined ? null : rows - done,
  };
}

function summaryText(tally: Tally, rows: number | undefined): string {
  const { succeeded, failed, inDoubt, goingOn, notDone } = countsOf(tally, rows);
  const parts = [
    [failed, 'failed'],
    [inDoubt, 'in doubt'],
    [goingOn, 'going on'],
    [notDone ?? 0, 'not done'],
  ] as const;
  const of = rows === undefined ? '' : ` of ${rows}`;
  return [
    `${succeeded}${of} rows succeeded`,
    ...parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`),
  ].join(', ');
}

function hintsFor(out: string, { tally, rows, budget, advise }: BatchEnd): string[] {
  const goesOn = budget.reached === undefined;
  const { failed, inDoubt, goingOn, notDone } = countsOf(tally, rows);
  return [
    ...(failed > 0 ? [retryHint(tally)] : []),
    ...(inDoubt > 0
      ? [
          `One in doubt may have a run: look with ${advise('runs', 'list')}, run it again with --resume --retry-unknown`,
        ]
      : []),
    ...(goesOn && (goingOn > 0 || notDone !== 0) ? [goOn(out)] : []),
  ];
}

function retryHint({ faulty }: Tally): string {
  const first = faulty > 0 ? 'Correct the faulty rows, then run' : 'Run';
  return `${first} the failed ones again with: --resume --retry-failed`;
}

function goOn(out: string): string {
  return `Go on with the same command and --resume; ${out} holds what is done.`;
}
