import type { RunRow } from '../../../wire/index.ts';
import type { Context } from '../../context.ts';
import { EXIT } from '../../core/exit-codes.ts';
import { toFailure } from '../../core/failure.ts';
import type { RowPlace } from '../../inputs/rows/row.ts';
import { reportFailure } from '../../terminal/report-failure.ts';

/**
 * Reports the fault of a row with its line; as JSON, with the runs that may belong to it.
 *
 * @param candidates the runs that may be that of a creation in doubt; if there are none, the
 * summary has the remedy
 */
export function reportRow(
  ctx: Context,
  sourceName: string,
  { row, line, id }: RowPlace,
  {
    error,
    candidates,
  }: { readonly error: unknown; readonly candidates?: readonly RunRow[] | undefined },
): void {
  const failure = toFailure(error);
  reportFailure(
    ctx.io,
    {
      status: failure.status,
      message: `${sourceName} line ${line} (row ${row}): ${failure.message}`,
      data: {
        row,
        line,
        id,
        ...(candidates?.length && { candidates: candidates.map(({ runId }) => runId) }),
      },
      exitCode: EXIT.runFailed,
      hints: candidates?.length === 0 ? [] : failure.hints,
      details: failure.details ?? [],
    },
    { json: ctx.globals.json, debug: false, error, paint: ctx.io.paintErr },
  );
}
