import { isFaulty, type ReadableRow } from '../../batch/rows/row.ts';
import { openSource, readRows, rowsFolder, type SourceFlags } from '../../batch/rows/source.ts';
import { concurrencyFor } from '../../batch/run/paced.ts';
import type { Connection, Context } from '../../context.ts';
import { failureOf } from '../../core/failure.ts';
import type { Budget } from '../../creation/budget.ts';
import { Forecast } from '../../creation/forecast.ts';
import { CliError, usageError } from '../../errors.ts';
import { inputFault } from '../../inputs/check.ts';
import { describeConfig } from '../../inputs/describe-config.ts';
import type { ImageSource } from '../../inputs/images/image-source.ts';
import { type NamingFolder, openNamedImages } from '../../inputs/named-file.ts';
import { buildRunBody, type RunRequest } from '../../inputs/request-body.ts';
import { mediaOf } from '../../outputs/media-content.ts';
import { type RequestResult, runRequests } from '../run/run-requests.ts';
import type { ComparedRow, VariantResult } from './comparison.ts';
import type { Variant } from './variants.ts';

/** What every row has in common. */
export interface CommonInputs {
  /** Win over a row's own. */
  readonly text: ReadonlyMap<string, string>;
  /** Stand before a row's own. */
  readonly images: readonly ImageSource[];
  readonly options: ReadonlyMap<string, string>;
}

/** A row that every variant takes. */
export interface CheckedRow {
  readonly row: number;
  readonly id: string;
  readonly text: ReadonlyMap<string, string>;
  readonly images: readonly ImageSource[];
}

/**
 * Reads every row and checks it against every variant; nothing is sent.
 *
 * @throws {CliError} USAGE_ERROR with the line of the first row that does not fit
 */
export async function readCheckedRows(
  ctx: Context,
  { allowOutside, ...flags }: SourceFlags & { readonly allowOutside: boolean },
  common: CommonInputs,
  variants: readonly Variant[],
): Promise<CheckedRow[]> {
  const source = await openSource(ctx, flags);
  const inFolder = { ...ctx, ...rowsFolder(ctx, flags.from, allowOutside) };
  const rows: CheckedRow[] = [];
  for await (const row of readRows(source, ctx.signal)) {
    const where = `${source.name}, line ${row.line}`;
    if (isFaulty(row)) {
      throw usageError(`${where}: ${row.fault}`);
    }
    rows.push(await checkedRow(inFolder, row, { common, variants, where }));
  }
  if (rows.length === 0) {
    throw usageError(`--from: ${source.name} has no rows`);
  }
  return rows;
}

async function checkedRow(
  ctx: Context & NamingFolder,
  row: ReadableRow,
  { common, variants, where }: { common: CommonInputs; variants: readonly Variant[]; where: string },
): Promise<CheckedRow> {
  try {
    const text = new Map([...row.inputs.text, ...common.text]);
    const images = [...common.images, ...(await openNamedImages(ctx, row.inputs.images))];
    for (const { config, name } of variants) {
      const fault = inputFault(describeConfig(config), { text, images: images.length });
      if (fault !== undefined) {
        throw usageError(`${fault.message} (${name})`, ...fault.hints);
      }
    }
    return { row: row.row, id: row.id, text, images };
  } catch (error) {
    throw error instanceof CliError ? usageError(`${where}: ${error.message}`, ...error.hints) : error;
  }
}

export interface ComparisonOptions {
  /** Open creations at a time, at each service; as many as it takes if undefined. */
  readonly concurrency: number | undefined;
  readonly runOptions: ReadonlyMap<string, string>;
  readonly budget: Budget;
  /** Whether pictures are kept for a page. */
  readonly keepMedia: boolean;
}

/** Runs every row with every variant; the rows come back in their order. @throws {CliError} INTERRUPTED */
export async function runComparison(
  ctx: Context,
  rows: readonly CheckedRow[],
  variants: readonly Variant[],
  { concurrency, budget, runOptions, keepMedia }: ComparisonOptions,
): Promise<ComparedRow[]> {
  const results = new Map<string, VariantResult>();
  for (const connection of new Set(variants.map(variant => variant.connection))) {
    const jobs = rows.flatMap(row =>
      variants.flatMap((variant, at) =>
        variant.connection === connection
          ? [{ id: jobId(row, at), request: requestOf(row, variant, runOptions) }]
          : [],
      ),
    );
    await runRequests(ctx, connection, jobs, {
      concurrency: concurrencyFor(connection, concurrency),
      budget,
      onResult: async ({ id }, result) => {
        results.set(id, await variantResult(ctx, connection, result, keepMedia));
      },
    });
  }
  return rows.map(row => ({
    row: row.row,
    id: row.id,
    inputs: Object.fromEntries(row.text),
    results: variants.flatMap((_, at) => results.get(jobId(row, at)) ?? []),
  }));
}

/** What all runs are expected to cost. */
export async function forecastComparison(
  rows: readonly CheckedRow[],
  variants: readonly Variant[],
  runOptions: ReadonlyMap<string, string>,
): Promise<Forecast> {
  const forecast = new Forecast();
  for (const row of rows) {
    for (const variant of variants) {
      await forecast.add(variant.connection, buildRunBody(requestOf(row, variant, runOptions)), undefined);
    }
  }
  return forecast;
}

function jobId({ row }: CheckedRow, variant: number): string {
  return `${row}-${variant}`;
}

function requestOf(
  { text, images }: CheckedRow,
  { promptVersionId, model }: Variant,
  options: ReadonlyMap<string, string>,
): RunRequest {
  const request = { promptVersionId, text, images, options };
  return model === undefined ? request : { ...request, model };
}

async function variantResult(
  ctx: Context,
  connection: Connection,
  result: RequestResult,
  forPage: boolean,
): Promise<VariantResult> {
  const { run, seconds } = result;
  if (run === undefined) {
    const fault = failureOf(result.error);
    return { run, seconds, credits: null, cost: null, media: new Map(), fault };
  }
  // What can't be fetched is compared by its URL, and so counts as changed.
  const media = await mediaOf(connection, [run], { forPage, signal: ctx.signal });
  return { run, seconds, credits: null, cost: null, media, fault: undefined };
}
