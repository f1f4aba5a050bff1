import { UnauthorizedError } from '../../../client/errors.ts';
import type { RunRow } from '../../../wire/index.ts';
import type { Context } from '../../context.ts';
import { counted } from '../../core/counted.ts';
import { failureOf } from '../../core/failure.ts';
import { describeCandidates } from '../../creation/in-doubt.ts';
import { EXIT } from '../../exit-codes.ts';
import { wantsJson } from '../../outputs/json.ts';
import { reportFailure } from '../../terminal/report-failure.ts';
import type { RowPlace } from '../rows/row.ts';
import { isAtCap, isEverybodys, isLongPause, type JobOutcome } from '../run/job.ts';
import { NoMoreWanted, type Stop } from '../run/stop.ts';
import type { Tally } from './tally.ts';

/** Rows in a row that meet a fault outside of them before no more are started. */
const MOST_IN_A_ROW = 10;

interface ReporterParts {
  /** The name of the rows' source. */
  readonly source: string;
  readonly maxFailures: number;
  readonly tally: Tally;
  readonly stop: Stop;
}

/** Reports a row that has ended, if it did not succeed, and starts no more when there is no use in it. */
export type ReportEnd = ReturnType<typeof reporter>;

export function reporter(ctx: Context, { source, maxFailures, tally, stop }: ReporterParts) {
  let everybodys = 0;
  return (row: RowPlace, outcome: JobOutcome): void => {
    const error = outcome.kind === 'dropped' ? undefined : outcome.error;
    if (isAtCap(error) || error instanceof NoMoreWanted) return stop.noMoreRows();
    everybodys = isEverybodys(error) ? everybodys + 1 : 0;
    if (error === undefined) return;
    reportRow(ctx, source, row, { error, candidates: outcome.kind === 'in doubt' ? outcome.candidates : [] });
    if (error instanceof UnauthorizedError) {
      stop.noMoreRows('the key is not accepted');
    } else if (isLongPause(error)) {
      stop.noMoreRows('the service asks to come back later');
    } else if (everybodys >= MOST_IN_A_ROW) {
      stop.noMoreRows(`${everybodys} rows in a row met a fault that is not theirs`);
    } else if (tally.failedNow >= maxFailures) {
      stop.noMoreRows(`${counted(maxFailures, 'row')} failed`);
    }
  };
}

/** One line on what is wrong with a row, and where the row stands; then the runs that may be its own. */
export function reportRow(
  ctx: Context,
  source: string,
  { row, line, id }: RowPlace,
  { error, candidates = [] }: { readonly error: unknown; readonly candidates?: readonly RunRow[] },
): void {
  const failure = failureOf(error);
  reportFailure(
    ctx.io,
    {
      status: failure.status,
      message: `${source} line ${line} (row ${row}): ${failure.message}`,
      data: {
        row,
        line,
        id,
        ...(candidates.length > 0 && { candidates: candidates.map(({ runId }) => runId) }),
      },
      exitCode: EXIT.runFailed,
      hints: [...failure.hints, ...describeCandidates(ctx, candidates)],
    },
    { json: wantsJson(ctx), debug: false, error, paint: ctx.io.paintErr },
  );
}
