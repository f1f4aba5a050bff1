import path from 'node:path';
import { messageOf } from '../../../files/error-utils.ts';
import { PathFault } from '../../../files/write-below.ts';
import { replaceNamedFile } from '../../../files/write-file.ts';
import { type ComparedRow, isNotRun, rowCells, rowData, verdictOn } from '../../comparing/comparison.ts';
import { comparisonGrid } from '../../comparing/comparison-grid.ts';
import { forecastComparison, readCheckedRows, runComparison } from '../../comparing/run-comparison.ts';
import { variantsOf } from '../../comparing/variants.ts';
import type { Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { counted } from '../../core/counted.ts';
import { Budget } from '../../creation/budget.ts';
import { parseCaps } from '../../creation/caps.ts';
import { CliError, usageError } from '../../errors.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { modelList, readsStandardInput } from '../../inputs/flags.ts';
import { imagesHere } from '../../inputs/images/image-source.ts';
import { openGivenImages } from '../../inputs/images/place-images.ts';
import { buildRunBody } from '../../inputs/request-body.ts';
import { checkOptions, parseOptions } from '../../inputs/run-options.ts';
import { collectInputs } from '../../inputs/text-inputs.ts';
import { pacedConnections } from '../../jobs/paced.ts';
import { printValue } from '../../outputs/json.ts';
import { gridPage } from '../../outputs/pages/grid-page.ts';
import { gridTable } from '../../outputs/pages/grid-terminal.ts';
import { present } from '../../outputs/present.ts';
import { checkFile } from '../../outputs/writable.ts';
import { flagOrSetting } from '../../settings/settings.ts';
import { plainRows } from '../../terminal/table.ts';
import type { COMPARE } from './spec.ts';

/** The flags of `compare`, as commander gives them. */
export type CompareFlags = FlagsOf<typeof COMPARE.flags>;

/** Runs the same rows through several versions or models and shows what differs. Publishes nothing. */
export async function compare(
  ctx: Context,
  targets: readonly string[],
  flags: CompareFlags,
): Promise<ExitCode> {
  const { from, format, delimiter, report } = flags;
  if (from === '-' && (flags.input.some(readsStandardInput) || flags.image.includes('-'))) {
    throw usageError(
      'standard input can be read once only, and --from - reads it',
      'Give the other one from a file.',
    );
  }
  if (report !== undefined) checkFile(ctx.cwd, report, '--report');
  const rate = flagOrSetting(ctx.settings, 'rate', flags.rate);
  const concurrency = flagOrSetting(ctx.settings, 'concurrency', flags.concurrency);
  const caps = parseCaps(flags);
  const budget = new Budget(ctx, caps);
  const options = parseOptions(flags.option);
  const { text, images } = await collectInputs(ctx, { inputs: flags.input, images: flags.image });
  const common = { text, images: await openGivenImages(imagesHere(ctx), images), options };
  const connectionOf = pacedConnections(ctx, rate);
  for (const target of targets) budget.check(await connectionOf(target));
  const variants = await variantsOf(ctx, connectionOf, targets, modelList(flags.model));
  for (const { connection, promptVersionId } of variants) {
    await checkOptions(ctx, connection, promptVersionId, options);
  }
  const rows = await readCheckedRows(ctx, { from, format, delimiter }, common, variants);
  if (flags.dryRun === true) {
    const forecast = await forecastComparison(rows, variants);
    await printValue(ctx, { rows: rows.length, ...forecast.data() });
    ctx.io.note(`note: ${forecast.text(caps)}; nothing was created`);
    return EXIT.ok;
  }
  for (const [at, { connection }] of variants.entries()) {
    const request = rows[0]?.requests[at];
    if (request !== undefined) await budget.checkPrice(connection, buildRunBody(request));
  }
  const keepMedia = report !== undefined;
  const compared = await runComparison(ctx, rows, variants, { concurrency, budget, keepMedia });
  await budget.totals(true);
  const spent = budget.spentLines('rows');
  const grid = await comparisonGrid(ctx, compared, variants, budget);
  const data = compared.map(row => rowData(row, variants, budget));
  await present(ctx, data, {
    terminal: () => gridTable(ctx.io, grid),
    plain: () => plainRows(compared.map(row => rowCells(row, budget))),
    paged: true,
  });
  for (const line of [grid.facts.join(', '), ...spent]) ctx.io.note(`note: ${line}`);
  if (report !== undefined) {
    await writePage(ctx, report, gridPage({ ...grid, facts: [...grid.facts, ...spent] }));
  }
  if (budget.reached !== undefined) throw notDone(budget.reached, compared);
  refuseLeft(compared);
  return exitCodeOf(compared, flags.failOn);
}

/** The runs are made: a page that can't be written must not cost what is known of them. */
async function writePage(ctx: Context, file: string, page: string): Promise<void> {
  try {
    await replaceNamedFile(path.resolve(ctx.cwd, file), page);
    ctx.io.note(`note: the page is ${file}`);
  } catch (error) {
    if (error instanceof PathFault) throw error;
    throw new CliError(`--report: ${file} can't be written: ${messageOf(error)}`, {
      status: 'FILE_ERROR',
      exitCode: EXIT.fault,
    });
  }
}

/** The end at the cap, with what it left undone. */
function notDone(
  { message, status, exitCode, data, hints }: CliError,
  rows: readonly ComparedRow[],
): CliError {
  const left = rows.filter(({ results }) => results.some(isNotRun)).length;
  return new CliError(`${message}; ${counted(left, 'row')} not done`, { status, exitCode, data, hints });
}

/** @throws {CliError} the fault because of which rows are left, with their number */
function refuseLeft(rows: readonly ComparedRow[]): void {
  const left = rows.filter(({ results }) => results.some(({ isLeft }) => isLeft));
  const fault = left.flatMap(({ results }) => results).find(({ isLeft }) => isLeft)?.fault;
  if (fault === undefined) return;
  const { status, message, exitCode, data, hints } = fault;
  throw new CliError(`${message}; ${counted(left.length, 'row')} left`, { status, exitCode, data, hints });
}

/** A row that could not be run ends it with the code of that fault, whatever `--fail-on` says. */
function exitCodeOf(rows: readonly ComparedRow[], failOn: CompareFlags['failOn']): ExitCode {
  const fault = rows.flatMap(({ results }) => results).find(one => one.fault !== undefined)?.fault;
  if (fault !== undefined) {
    return fault.exitCode;
  }
  const verdicts = new Set(rows.map(verdictOn));
  const isFailed = verdicts.has('failed') || (failOn === 'changed' && verdicts.has('changed'));
  return failOn !== undefined && isFailed ? EXIT.runFailed : EXIT.ok;
}
