import type { Context } from '../../context.ts';
import { Interrupted } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { printValue, wantsJson } from '../../outputs/json.ts';
import { oneLine } from '../../terminal/sanitise.ts';
import type { BatchOptions } from '../options.ts';
import type { Tally } from '../progress/tally.ts';
import type { Stop } from '../run/stop.ts';

/** Tells how a batch ended and gives its exit code. @throws {Interrupted} after Ctrl-C or SIGTERM */
export async function conclude(
  ctx: Context,
  { out }: Pick<BatchOptions, 'out'>,
  { tally, stop, rows }: { tally: Tally; stop: Stop; rows: number | undefined },
): Promise<ExitCode> {
  const counts = countsOf(tally, rows);
  if (out !== undefined && wantsJson(ctx)) {
    await printValue(ctx, counts);
  }
  if (stop.interruptedBy !== undefined) {
    throw new Interrupted(stop.interruptedBy, out === undefined ? [] : [goOn(out)], {
      message: summaryText(tally, rows),
    });
  }
  tellEnd(ctx, out, { tally, stop, rows });
  return counts.succeeded === rows ? EXIT.ok : EXIT.runFailed;
}

function tellEnd(
  ctx: Context,
  out: string | undefined,
  { tally, stop, rows }: { tally: Tally; stop: Stop; rows: number | undefined },
): void {
  if (stop.reason !== undefined) {
    ctx.io.error(`error: no more rows were started: ${oneLine(stop.reason)}`);
  }
  ctx.io.note(`note: ${summaryText(tally, rows)}`);
  if (out !== undefined) {
    for (const hint of hintsFor(out, tally, rows)) {
      ctx.io.note(hint);
    }
  }
}

interface Counts {
  readonly rows: number | null;
  readonly succeeded: number;
  readonly failed: number;
  readonly inDoubt: number;
  readonly goingOn: number;
  /** null where it is not known how many rows there are. */
  readonly notDone: number | null;
}

function countsOf({ before, now, done }: Tally, rows: number | undefined): Counts {
  return {
    rows: rows ?? null,
    succeeded: before.succeeded + now.succeeded,
    failed: before.failed + now.failed,
    inDoubt: before['in doubt'] + now['in doubt'],
    goingOn: before['going on'] + now['going on'],
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

function hintsFor(out: string, tally: Tally, rows: number | undefined): string[] {
  const { failed, inDoubt, goingOn, notDone } = countsOf(tally, rows);
  return [
    ...(failed > 0 ? ['Run the failed ones again with: --resume --retry-failed'] : []),
    ...(inDoubt > 0
      ? [
          'One in doubt may have a run: look with promptrun runs list, run it again with --resume --retry-unknown',
        ]
      : []),
    ...(goingOn > 0 || notDone !== 0 ? [goOn(out)] : []),
  ];
}

function goOn(out: string): string {
  return `Go on with the same command and --resume; ${out} holds what is done.`;
}
