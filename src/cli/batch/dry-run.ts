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

interface RowCheckOptions extends Omit<DryRunOptions, 'caps'> {
  readonly budget: Budget;
  readonly forecast: Forecast;
}

interface DryRunCounts {
  readonly checked: number;
  readonly invalid: number;
  /** Rows that stay as they are. */
  readonly unchanged: number;
}

/** Checks everything about each row that can be checked without creating a run. */
export async function dryRunBatch(
  ctx: Context,
  source: RowSource,
  batch: PreparedBatch,
  { caps, ...options }: DryRunOptions,
): Promise<ExitCode> {
  if (options.providerBatch) await findBatchProvider(batch.connection, batch.promptVersionId);

  const forecast = new Forecast();
  const budget = new Budget(ctx, caps);
  const counts = await checkRows(ctx, source, batch, { ...options, budget, forecast });
  const { checked, invalid, unchanged } = counts;
  if (ctx.globals.json) {
    await printValue(ctx, { rows: checked, faults: invalid, ...forecast.toData() });
  }

  const unchangedText = unchanged > 0 ? `, ${unchanged} more stay as they are` : '';
  ctx.io.note(
    `note: ${pluralize(checked, 'row')} checked, ${invalid} invalid${unchangedText}; nothing was created`,
  );
  ctx.io.note(`note: ${forecast.format(caps)}`);
  return invalid === 0 ? EXIT.ok : EXIT.usage;
}

/** Checks and prices each row, and reports the invalid ones. */
async function checkRows(
  ctx: Context,
  source: RowSource,
  batch: PreparedBatch,
  options: RowCheckOptions,
): Promise<DryRunCounts> {
  const { shard, budget, needsRun = () => true } = options;
  const counts = { checked: 0, invalid: 0, unchanged: 0 };
  let isPriceChecked = false;
  for await (const row of readRows(source, ctx.signal)) {
    if (row.row === 1) throwIfStrayColumn(batch, source, row);
    if (!isInShard(shard, row.row)) continue;

    if (!needsRun(row.id)) {
      counts.unchanged += 1;
      continue;
    }

    counts.checked += 1;
    const bodyOrFault = await checkRow(ctx, batch, row, options);
    if (bodyOrFault instanceof CliError) {
      counts.invalid += 1;
      reportRow(ctx, source.name, row, { error: bodyOrFault });
    } else if (!isPriceChecked) {
      // All rows ask the same model, so that a missing price refuses the batch and not a row.
      await budget.checkPrice(batch.connection, bodyOrFault);
      isPriceChecked = true;
    }
  }
  return counts;
}

/** Returns the body of a row's creation, which it adds to the forecast, or the row's fault. */
async function checkRow(
  ctx: Context,
  batch: PreparedBatch,
  row: SourceRow,
  { forecast, providerBatch }: RowCheckOptions,
): Promise<RunBody | CliError> {
  if (isFaulty(row)) return usageError(row.fault);
  const { connection, estimatedCredits } = batch;
  try {
    const body = buildRunBody(await prepareRow(ctx, batch, row));
    await forecast.add(connection, body, { estimatedCredits, providerBatch });
    return body;
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
}
