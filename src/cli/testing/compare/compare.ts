import path from 'node:path';
import type { ChalkInstance } from 'chalk';
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
import { imagesHere } from '../../inputs/images/open-image.ts';
import { openGivenImages } from '../../inputs/images/place-images.ts';
import { checkOptions, parseOptions } from '../../inputs/run-options.ts';
import { collectInputs } from '../../inputs/text-inputs.ts';
import { differences } from '../../outputs/differences.ts';
import { printValue } from '../../outputs/json.ts';
import { gridPage } from '../../outputs/pages/grid-page.ts';
import { present } from '../../outputs/present.ts';
import { checkFile } from '../../outputs/writable.ts';
import { visible } from '../../terminal/sanitise.ts';
import { type Cell, plainRows, terminalTable } from '../../terminal/table.ts';
import { type ComparedRow, markedPart, shownText, type Verdict, verdictOn } from './comparison.ts';
import { comparisonGrid, factsOf, MEASURES, totalsOf } from './comparison-grid.ts';
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
  const { report } = options;
  const keepMedia = report !== undefined;
  const compared = await runComparison(ctx, rows, variants, {
    concurrency: options.concurrency,
    budget,
    keepMedia,
  });
  const totals = await budget.totals(true);
  const complete = withCosts(compared, budget);
  await show(ctx, complete, variants);
  for (const line of spendingText(totals)) ctx.io.note(`note: ${line}`);
  if (report !== undefined) {
    await writePage(ctx, report, gridPage(await comparisonGrid(complete, variants)));
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
        cost: cost?.cost ?? null,
      };
    }),
  }));
}

async function show(ctx: Context, rows: readonly ComparedRow[], variants: readonly Variant[]): Promise<void> {
  await present(
    ctx,
    rows.map(row => rowData(row, variants)),
    {
      terminal: async () =>
        `${await table(ctx, rows, variants)}${await changes(rows, variants, ctx.io.paint)}`,
      plain: () => plainRows(rows.map(row => [...rowCells(row)])),
      paged: true,
    },
  );
  const count = (verdict: Verdict): string =>
    `${rows.filter(row => verdictOn(row) === verdict).length} ${verdict}`;
  ctx.io.note(`note: ${count('same')}, ${count('changed')}, ${count('failed')}`);
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

function table(ctx: Context, rows: readonly ComparedRow[], variants: readonly Variant[]): Promise<string> {
  const { paint } = ctx.io;
  const colours = { same: paint.green, changed: paint.yellow, failed: paint.red };
  const columns = [{ title: 'Row' }, { title: 'Result' }, ...variants.map(({ name }) => ({ title: name }))];
  const cells = rows.map((row): Cell[] => {
    const verdict = verdictOn(row);
    return [
      row.id,
      { text: verdict, paint: colours[verdict] },
      ...row.results.map(result => factsOf(result).join(', ')),
    ];
  });
  const totals = variants.map((_, at) => totalsText(rows.flatMap(row => row.results[at] ?? [])));
  return terminalTable(ctx.io, columns, [...cells, ['all', '', ...totals]]);
}

function totalsText(results: ComparedRow['results']): string {
  const totals = totalsOf(results);
  return MEASURES.flatMap((name, at) =>
    totals[at] === '–' || name === 'time' ? [] : `${totals[at]} ${name}`,
  ).join(', ');
}

/** Under the table: how each row that changed differs from the first variant, word by word. */
async function changes(
  rows: readonly ComparedRow[],
  variants: readonly Variant[],
  paint: ChalkInstance,
): Promise<string> {
  const lines: string[] = [];
  for (const row of rows.filter(one => verdictOn(one) !== 'same')) {
    const [first, ...others] = row.results;
    for (const [at, other] of others.entries()) {
      const parts = await differences(first === undefined ? '' : shownText(first), shownText(other), 'words');
      lines.push('', paint.bold(visible(`${row.id}: ${variants[0]?.name} → ${variants[at + 1]?.name}`)));
      lines.push(
        parts
          .map(part => markedPart(part, paint))
          .join('')
          .trimEnd(),
      );
    }
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
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
