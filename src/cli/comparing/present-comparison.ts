import { PathFault } from '../../files/writing/write-below.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import type { Context } from '../context.ts';
import { CliError, unwritableError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import { pluralize } from '../core/pluralize.ts';
import { formatSpentLines } from '../creation/spending/spending-text.ts';
import type { Grid } from '../outputs/html/grid.ts';
import { renderGridPage } from '../outputs/html/grid-page.ts';
import { renderGridTable } from '../outputs/html/grid-terminal.ts';
import { present } from '../outputs/present.ts';
import { printPaid } from '../outputs/present-run.ts';
import { wasStopped } from '../outputs/run-errors.ts';
import { replacesPrintedResult, writeNamedFile } from '../outputs/saving/special-file.ts';
import { escapeControls, toOneLine } from '../terminal/sanitise.ts';
import { formatPlainRows } from '../terminal/table.ts';
import { reportTestFault } from '../testing/reporters/report-end.ts';
import {
  type ComparedRow,
  findVariantFailure,
  formatRowCells,
  toRowData,
  wasAttempted,
} from './compared-row.ts';
import { buildComparisonGrid, type FinishedComparison } from './comparison-grid.ts';
import type { Variant } from './create-variants.ts';
import { type ExpectedCases, formatUnjudgedRows } from './expected-cases.ts';
import { formatVariantVerdicts, type VariantVerdict } from './variant-verdicts.ts';

export interface ShownComparison extends FinishedComparison {
  /** The cases that judge the answers; undefined without `--expect`. */
  readonly expectedCases: ExpectedCases | undefined;
  readonly verdicts: readonly VariantVerdict[];
}

/**
 * Prints the rows and verdicts, reports the rows in doubt, and writes the page of `--report`, which
 * replaces the rows on standard output.
 */
export async function presentComparison(
  ctx: Context,
  comparison: ShownComparison,
  reportPath: string | undefined,
): Promise<void> {
  const { budget, comparedRows, variants } = comparison;
  const texts = await buildComparisonTexts(ctx, comparison);
  const isPagePrinted = replacesPrintedResult(ctx, '--report', reportPath);
  if (!isPagePrinted) await printRows(ctx, comparison, texts);

  reportSummary(ctx, texts);
  reportFailures(ctx, comparedRows, variants);
  explainStoppedRuns(ctx, comparedRows);
  if (reportPath === undefined) return;

  const { grid, verdictLines, closingLines } = texts;
  const page = renderGridPage({
    ...grid,
    facts: [...grid.facts, ...verdictLines, ...closingLines],
  });
  if (isPagePrinted) {
    await printPaid(ctx, budget.newRuns, out => writeNamedFile(out, reportPath, page));
  } else {
    await writePage(ctx, reportPath, page);
  }
}

interface ComparisonTexts {
  readonly grid: Grid;
  readonly verdictCells: readonly (readonly [name: string, verdict: string])[];
  readonly verdictLines: readonly string[];
  /** The rows without a case, and the spending. */
  readonly closingLines: readonly string[];
}

async function buildComparisonTexts(
  ctx: Context,
  comparison: ShownComparison,
): Promise<ComparisonTexts> {
  const { variants, expectedCases, budget, verdicts } = comparison;
  const verdictCells = expectedCases
    ? formatVariantVerdicts(verdicts, variants[0]?.name ?? '')
    : [];
  const unjudgedLines = expectedCases ? formatUnjudgedRows(expectedCases) : [];
  return {
    grid: await buildComparisonGrid(ctx, comparison),
    verdictCells,
    verdictLines: verdictCells.map(([name, verdict]) => `${name}: ${verdict}`),
    closingLines: [...unjudgedLines, ...formatSpentLines(budget, 'rows')],
  };
}

async function printRows(
  ctx: Context,
  { variants, comparedRows, budget, judgements }: ShownComparison,
  { grid, verdictCells, verdictLines }: ComparisonTexts,
): Promise<void> {
  const data = comparedRows.map(row => toRowData(row, { variants, budget, judgements }));
  const forms = {
    terminal: async () =>
      (await renderGridTable(ctx.io, grid, { isWhole: false })) +
      verdictLines.map(line => `${escapeControls(line)}\n`).join(''),
    plain: () =>
      formatPlainRows([
        ...comparedRows.map(row => formatRowCells(row, { budget, judgements })),
        ...verdictCells.map(cells => ['verdict', ...cells]),
      ]),
    paged: true,
  };
  await printPaid(ctx, budget.newRuns, out => present(out, data, forms));
}

function reportSummary(ctx: Context, { grid, verdictLines, closingLines }: ComparisonTexts): void {
  // The printed rows end with the verdicts; JSON has none.
  const unprintedVerdicts = ctx.globals.json ? verdictLines : [];
  for (const line of [grid.facts.join(', '), ...unprintedVerdicts, ...closingLines]) {
    ctx.io.note(`note: ${toOneLine(line)}`);
  }
}

/** Reports the rows in doubt; and, if neither a grid nor JSON shows them, the rows that failed. */
function reportFailures(
  ctx: Context,
  comparedRows: readonly ComparedRow[],
  variants: readonly Variant[],
): void {
  const isShown = ctx.globals.json || ctx.io.stdout.isTerminal;
  for (const { row, results } of comparedRows) {
    for (const [index, result] of results.entries()) {
      if (result.isInDoubt !== true && (isShown || !wasAttempted(result))) continue;
      const failure = findVariantFailure(result);
      if (failure === undefined) continue;
      reportTestFault(ctx, {
        ...failure,
        message: `row ${row} (${variants[index]?.name}): ${failure.message}`,
      });
    }
  }
}

/** Reports how many runs were stopped, and how to make them again. */
function explainStoppedRuns({ io, isReplay }: Context, comparedRows: readonly ComparedRow[]): void {
  const runs = comparedRows.flatMap(({ results }) => results.flatMap(({ run }) => run ?? []));
  const stoppedCount = runs.filter(wasStopped).length;
  if (stoppedCount === 0 || isReplay) return;
  const [were, them] = stoppedCount === 1 ? ['was', 'it'] : ['were', 'them'];
  io.note(
    `note: ${pluralize(stoppedCount, 'run')} ${were} stopped; --resume --retry-failed makes ${them} again`,
  );
}

/** Writes the page. The runs are paid for, so a failed write must not lose their results. */
async function writePage(ctx: Context, filePath: string, page: string): Promise<void> {
  try {
    await writeNamedFile(ctx, filePath, page);
    ctx.io.note(`note: wrote the page to ${filePath}`);
  } catch (error) {
    if (error instanceof PathFault) throw error;
    const message = `--report: ${filePath} can't be written: ${getErrorMessage(error)}`;
    throw unwritableError(
      error,
      new CliError(message, { status: 'FILE_ERROR', exitCode: EXIT.fault }),
    );
  }
}
