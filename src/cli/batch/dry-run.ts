import type { Context } from '../context.ts';
import { CliError, usageError } from '../core/errors.ts';
import { EXIT, type ExitCode } from '../core/exit-codes.ts';
import { pluralize } from '../core/pluralize.ts';
import { Budget } from '../creation/spending/budget.ts';
import { Forecast } from '../creation/spending/forecast.ts';
import { buildRunBody, type RunBody } from '../inputs/request-body.ts';
import { isFaulty, type SourceRow } from '../inputs/rows/row.ts';
import { type RowSource, readRows } from '../inputs/rows/row-source.ts';
import { isInShard } from '../inputs/rows/shard.ts';
import { findBatchProvider } from '../jobs/provider-batch/batch-session.ts';
import { printValue } from '../outputs/print-json.ts';
import type { BatchOptions } from './batch-options.ts';
import { type PreparedBatch, prepareRow, throwIfStrayColumn } from './prepare-batch.ts';
import { reportRow } from './progress/report-row.ts';

interface DryRunOptions extends Pick<BatchOptions, 'shard' | 'providerBatch' | 'caps'> {
  /** Returns true for the id of a row that would be run; by default, every row would. */
  readonly needsRun?: (id: string) => boolean;
}

/** Checks everything about each row that can be checked without creating a run. */
export async function dryRunBatch(
  ctx: Context,
  source: RowSource,
  batch: PreparedBatch,
  { shard, providerBatch, caps, needsRun = () => true }: DryRunOptions,
): Promise<ExitCode> {
  if (providerBatch) await findBatchProvider(batch.connection, batch.promptVersionId);
  let checkedRows = 0;
  let invalidRows = 0;
  let unchangedRows = 0;
  let isPriceChecked = false;

  const forecast = new Forecast();
  const budget = new Budget(ctx, caps);
  for await (const row of readRows(source, ctx.signal)) {
    if (row.row === 1) throwIfStrayColumn(batch, source, row);
    if (!isInShard(shard, row.row)) continue;

    if (!needsRun(row.id)) {
      unchangedRows += 1;
      continue;
    }

    checkedRows += 1;
    const bodyOrFault = await checkRow(ctx, batch, row, async body => {
      const { estimatedCredits } = batch;
      await forecast.add(batch.connection, body, { estimatedCredits, providerBatch });
    });
    if (bodyOrFault instanceof CliError) {
      invalidRows += 1;
      reportRow(ctx, source.name, row, { error: bodyOrFault });
    } else if (!isPriceChecked) {
      // All rows ask the same model, so that a missing price refuses the batch and not a row.
      await budget.checkPrice(batch.connection, bodyOrFault);
      isPriceChecked = true;
    }
  }

  if (ctx.globals.json) {
    await printValue(ctx, { rows: checkedRows, faults: invalidRows, ...forecast.toData() });
  }

  const unchanged = unchangedRows > 0 ? `, ${unchangedRows} more stay as they are` : '';
  ctx.io.note(
    `note: ${pluralize(checkedRows, 'row')} checked, ${invalidRows} invalid${unchanged}; nothing was created`,
  );
  ctx.io.note(`note: ${forecast.format(caps)}`);
  return invalidRows === 0 ? EXIT.ok : EXIT.usage;
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
