import path from 'node:path';
import { messageOf } from '../../../files/error-utils.ts';
import { replaceFile } from '../../../files/write-file.ts';
import { dollars } from '../../../wire/money.ts';
import type { Format } from '../../batch/rows/source.ts';
import { pacedConnections } from '../../batch/run/paced.ts';
import type { Context } from '../../context.ts';
import { countOf } from '../../core/json-value.ts';
import { Budget } from '../../creation/budget.ts';
import { type Caps, inCredits } from '../../creation/caps.ts';
import { spendingText } from '../../creation/spending-text.ts';
import { CliError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { imagesHere } from '../../inputs/images/image-source.ts';
import { openGivenImages } from '../../inputs/images/place-images.ts';
import { buildRunBody } from '../../inputs/request-body.ts';
import { checkOptions, parseOptions } from '../../inputs/run-options.ts';
import { collectInputs } from '../../inputs/text-inputs.ts';
import { printValue } from '../../outputs/json.ts';
import type { Grid } from '../../outputs/pages/grid.ts';
import { gridPage } from '../../outputs/pages/grid-page.ts';
import { gridTable } from '../../outputs/pages/grid-terminal.ts';
import { present } from '../../outputs/present.ts';
import { checkFile } from '../../outputs/writable.ts';
import { plainRows } from '../../terminal/table.ts';
import { type ComparedRow, verdictOn } from './comparison.ts';
import { comparisonGrid } from './comparison-grid.ts';
import { forecastComparison, readCheckedRows, runComparison } from './run-comparison.ts';
import { type Variant, variantsOf } from './variants.ts';

export interface CompareOptions {
  readonly targets: readonly string[];
  /** Every target is run with each; its own where there are none. */
  readonly models: readonly string[];
  readonly from: string;
  readonly format: Format | undefined;
  readonly delimiter: string | undefined;
  readonly inputs: readonly string[];
  readonly images: readonly string[];
  readonly runOptions: readonly string[];
  /** Whether rows may name files outside of the folder of theirs. */
  readonly allowOutside: boolean;
  /** A file for the page. */
  readonly report: string | undefined;
  /** What sets exit code 5; a run that failed counts as changed too. */
  readonly failOn: 'changed' | 'failed' | undefined;
  /** Checks everything, tells what the runs would cost, and creates none. */
  readonly dryRun: boolean;
  readonly caps: Caps;
  /** Creations open at a time; what suits the service if undefined. */
  readonly concurrency: number | undefined;
  /** Requests a second, 0 for no limit; what the service says if undefined. */
  readonly rate: number | undefined;
}

/** Runs the same rows through several versions or models and shows what differs. Publishes nothing. */
export async function compare(ctx: Context, options: CompareOptions): Promise<ExitCode> {
  if (options.report !== undefined) checkFile(ctx.cwd, options.report, '--report');
  const runOptions = parseOptions(options.runOptions);
  const { text, images } = await collectInputs(ctx, options);
  const given = await openGivenImages(imagesHere(ctx), images);
  const common = { text, images: given, options: runOptions };
  const budget = new Budget(ctx, options.caps);
  const connectionOf = pacedConnections(ctx, options.rate);
  for (const target of options.targets) budget.check(await connectionOf(target));
  const variants = await variantsOf(ctx, connectionOf, options.targets, options.models);
  for (const { connection, promptVersionId } of variants) {
    await checkOptions(ctx, connection, promptVersionId, runOptions);
  }
  const rows = await readCheckedRows(ctx, options, common, variants);
  if (options.dryRun) {
    const forecast = await forecastComparison(rows, variants);
    await printValue(ctx, { rows: rows.length, ...forecast.data() });
    ctx.io.note(`note: ${forecast.text()}; nothing was created`);
    return EXIT.ok;
  }
  for (const [at, { connection }] of variants.entries()) {
    const request = rows[0]?.requests[at];
    if (request !== undefined) await budget.checkPrice(connection, buildRunBody(request));
  }
  const { report } = options;
  const keepMedia = report !== undefined;
  const compared = await runComparison(ctx, rows, variants, {
    concurrency: options.concurrency,
    budget,
    keepMedia,
  });
  const spent = spendingText(await budget.totals(true));
  const complete = withCosts(compared, budget);
  const grid = await comparisonGrid(ctx, complete, variants, budget);
  await show(ctx, complete, variants, grid);
  ctx.io.note(`note: ${grid.facts.join(', ')}`);
  for (const line of spent) ctx.io.note(`note: ${line}`);
  if (report !== undefined) {
    await writePage(ctx, report, gridPage({ ...grid, facts: [...grid.facts, ...spent] }));
  }
  if (budget.reached !== undefined) throw budget.reached;
  return exitCodeOf(complete, options.failOn);
}

/** The rows with what each run took, as far as it is known. */
function withCosts(rows: readonly ComparedRow[], budget: Budget): ComparedRow[] {
  return rows.map(row => ({
    ...row,
    results: row.results.map(result => {
      const { credits, cost } = budget.factsOf(result.run?.runId ?? '');
      return {
        ...result,
        credits: credits === undefined ? null : inCredits(credits),
        cost: cost ?? null,
      };
    }),
  }));
}

function show(
  ctx: Context,
  rows: readonly ComparedRow[],
  variants: readonly Variant[],
  grid: Grid,
): Promise<void> {
  return present(
    ctx,
    rows.map(row => rowData(row, variants)),
    {
      terminal: () => gridTable(ctx.io, grid),
      plain: () => plainRows(rows.map(rowCells)),
      paged: true,
    },
  );
}

function rowData(row: ComparedRow, variants: readonly Variant[]): object {
  return {
    row: row.row,
    id: row.id,
    verdict: verdictOn(row),
    inputs: row.inputs,
    results: row.results.map(({ run, seconds, credits, cost, fault }, at) => ({
      target: variants[at]?.name,
      promptVersionId: variants[at]?.promptVersionId,
      model: variants[at]?.model ?? null,
      runId: run?.runId ?? null,
      runStatus: run?.runStatus ?? null,
      outputs: run?.outputs ?? [],
      tokens: countOf(run?.tokens) ?? null,
      credits,
      cost: cost === null ? null : dollars(cost),
      seconds,
      error: fault === undefined ? null : { status: fault.status, message: fault.message },
    })),
  };
}

/** Number, id, verdict, then of each variant: run id, status, seconds, tokens, credits. */
function rowCells(row: ComparedRow): string[] {
  return [
    String(row.row),
    row.id,
    verdictOn(row),
    ...row.results.flatMap(({ run, seconds, credits }) => [
      run?.runId ?? '-',
      run?.runStatus ?? 'not run',
      seconds.toFixed(3),
      String(run?.tokens ?? '-'),
      String(credits ?? '-'),
    ]),
  ];
}

/** The runs are made: a page that can't be written must not cost what is known of them. */
async function writePage(ctx: Context, file: string, page: string): Promise<void> {
  try {
    await replaceFile(path.resolve(ctx.cwd, file), page);
    ctx.io.note(`note: the page is ${file}`);
  } catch (error) {
    throw new CliError(`--report: ${file} can't be written: ${messageOf(error)}`, {
      status: 'FILE_ERROR',
      exitCode: EXIT.fault,
    });
  }
}

/** A row that could not be run ends it with the code of that fault, whatever `--fail-on` says. */
function exitCodeOf(rows: readonly ComparedRow[], failOn: CompareOptions['failOn']): ExitCode {
  const fault = rows.flatMap(({ results }) => results).find(one => one.fault !== undefined)?.fault;
  if (fault !== undefined) {
    return fault.exitCode;
  }
  const verdicts = new Set(rows.map(verdictOn));
  const isFailed = verdicts.has('failed') || (failOn === 'changed' && verdicts.has('changed'));
  return failOn !== undefined && isFailed ? EXIT.runFailed : EXIT.ok;
}
