import type { Context } from '../context.ts';
import { CliError, usageError } from '../core/errors.ts';
import { EXIT, type ExitCode } from '../core/exit-codes.ts';
import { pluralize } from '../core/pluralize.ts';
import { Budget } from '../creation/budget.ts';
import { Forecast } from '../creation/forecast.ts';
import { buildRunBody, type RunBody } from '../inputs/request-body.ts';
import { isFaulty, type SourceRow } from '../inputs/rows/row.ts';
import { type RowSource, readRows } from '../inputs/rows/row-source.ts';
import { isInShard } from '../inputs/rows/shard.ts';
import { findBatchProvider } from '../jobs/provider-batch/batch-session.ts';
import { printValue } from '../outputs/print-json.ts';
import type { BatchOptions } from './batch-options.ts';
import { type PreparedBatch, prepareRow, refuseStrayColumns } from './prepare-batch.ts';
import { reportRow } from './progress/report-row.ts';

interface DryRunOptions extends Pick<BatchOptions, 'shard' | 'providerBatch' | 'caps'> {
  /** Returns true for the id of a row that would be run; by default, every row would. */
  readonly isLeft?: (id: string) => boolean;
}

/** Checks everything about each row that can be checked without creating a run. */
export async function dryRunBatch(
  ctx: Context,
  source: RowSource,
  batch: PreparedBatch,
  { shard, providerBatch, caps, isLeft = () => true }: DryRunOptions,
): Promise<ExitCode> {
  if (providerBatch) await findBatchProvider(batch.connection, batch.promptVersionId);
  let rows = 0;
  let faults = 0;
  let unchangedRows = 0;
  let isPriceChecked = false;

  const forecast = new Forecast();
  const budget = new Budget(ctx, caps);
  for await (const row of readRows(source, ctx.signal)) {
    if (row.row === 1) refuseStrayColumns(batch, source, row);
    if (!isInShard(shard, row.row)) continue;

    if (!isLeft(row.id)) {
      unchangedRows += 1;
      continue;
    }

    rows += 1;
    const checked = await checkRow(ctx, batch, row, async body => {
      const { estimatedCredits } = batch;
      await forecast.add(batch.connection, body, { estimatedCredits, providerBatch });
    });
    if (checked instanceof CliError) {
      faults += 1;
      reportRow(ctx, source.name, row, { error: checked });
    } else if (!isPriceChecked) {
      // All rows ask the same model, so that a missing price refuses the batch and not a row.
      await budget.checkPrice(batch.connection, checked);
      isPriceChecked = true;
    }
  }

  if (ctx.globals.json) await printValue(ctx, { rows, faults, ...forecast.toData() });
  ctx.io.note(
    `note: ${pluralize(rows, 'row')} checked, ${faults} invalid${unchangedRows > 0 ? `, ${unchangedRows} more stay as they are` : ''}; nothing was created`,
  );
  ctx.io.note(`note: ${forecast.format(caps)}`);
  return faults === 0 ? EXIT.ok : EXIT.usage;
}

/** Returns the body of a row's creation after `onBody`, or the row's fault. */
async function checkRow(
  ctx: Context,
  batch: PreparedBatch,
  row: SourceRow,
  onBody: (body: RunBody) => Promise<void>,
): Promise<RunBody | CliError> {
  if (isFaulty(row)) return usageError(row.fault);
  try {
    const body = buildRunBody(await prepareRow(ctx, batch, row));
    await onBody(body);
    return body;
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
}
