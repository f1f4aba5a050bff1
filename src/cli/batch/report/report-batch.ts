import path from 'node:path';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import type { Context } from '../../context.ts';
import { unwritableError, usageError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-codes.ts';
import { pluralize } from '../../core/pluralize.ts';
import {
  formatSpendingTotals,
  formatSpentProperties,
} from '../../creation/spending/spending-text.ts';
import { present } from '../../outputs/present.ts';
import {
  isStandardOutput,
  replacesPrintedResult,
  writeNamedFile,
} from '../../outputs/saving/special-file.ts';
import { escapeControls } from '../../terminal/sanitise.ts';
import { formatPlainRows, renderTerminalTable } from '../../terminal/table.ts';
import {
  type BatchSummary,
  formatUnfinished,
  readReportedRows,
  readSpending,
  readUnfinished,
  summarizeRows,
} from './reported-rows.ts';

/**
 * Prints the summary of a batch, and writes an HTML page if `html` names a file. A page on standard
 * output replaces the summary.
 */
export async function reportBatch(
  ctx: Context,
  resultsPath: string,
  html: string | undefined,
): Promise<ExitCode> {
  const isPrinted = replacesPrintedResult(ctx, '--html', html);
  const rows = await readReportedRows(resultsPath, ctx.cwd);
  const unfinished = await readUnfinished(resultsPath, ctx.cwd, rows);

  const summary = summarizeRows(rows, await readSpending(ctx, rows), unfinished);
  if (html !== undefined) {
    const { renderReportPage } = await import('./report-page.ts');
    const folder = path.dirname(path.resolve(ctx.cwd, resultsPath));
    const page = await renderReportPage(rows, summary, {
      title: path.basename(resultsPath),
      folder,
    });
    await writeBatchReport(ctx, html, page.html);
    reportOmittedFiles(ctx, page.omittedPaths);
    if (isPrinted) return EXIT.ok;
  }

  await present(ctx, summary, {
    terminal: () => renderTerminalReport(ctx, summary),
    plain: () => formatPlainRows(toSummaryRows(summary)),
  });
  return EXIT.ok;
}

const MAX_NAMED_ROWS = 20;

function reportOmittedFiles(ctx: Context, omittedPaths: readonly string[]): void {
  if (omittedPaths.length === 0) return;
  const named = omittedPaths.slice(0, MAX_NAMED_ROWS).join(', ');
  const more =
    omittedPaths.length > MAX_NAMED_ROWS ? ` and ${omittedPaths.length - MAX_NAMED_ROWS} more` : '';
  ctx.io.note(
    `note: not on the page, because they are not pictures below the folder of the results: ${named}${more}`,
  );
}

async function writeBatchReport(ctx: Context, file: string, page: string): Promise<void> {
  try {
    await writeNamedFile(ctx, file, page);
  } catch (error) {
    throw unwritableError(
      error,
      usageError(`--html: ${file} can't be written: ${getErrorMessage(error)}`),
    );
  }
  if (!isStandardOutput(ctx.cwd, file)) ctx.io.note(`note: wrote the page to ${file}`);
}

function toSummaryRows({
  unfinished,
  rows: count,
  succeeded,
  failed,
  seconds,
  failures,
  slowest,
  ...spent
}: BatchSummary): string[][] {
  const counts = { rows: count, succeeded, failed, seconds: seconds ?? '-' };
  return [
    ...(unfinished === undefined ? [] : [['unfinished', formatUnfinished(unfinished)]]),
    ...Object.entries(counts).map(([name, value]) => [name, String(value)]),
    ...formatSpentProperties(spent).map(([name, value]) => [name, value]),
    ...failures.map(({ reason, rows, ids }) => [
      'failure',
      String(rows),
      reason,
      ids.slice(0, 10).join(','),
    ]),
    ...slowest.map(({ id, seconds: took }) => ['slow', String(took), id]),
  ];
}

async function renderTerminalReport(ctx: Context, summary: BatchSummary): Promise<string> {
  const { unfinished, rows, succeeded, failed, seconds, failures, slowest } = summary;
  const time = seconds === undefined ? '' : `; ${seconds} s of run time`;
  const counts = `${pluralize(rows, 'row')}: ${succeeded} succeeded, ${failed} failed${time}`;
  const state = unfinished === undefined ? [] : [formatUnfinished(unfinished)];

  const parts = [
    [...state, counts, ...formatSpendingTotals(summary).map(escapeControls), ''].join('\n'),
  ];
  if (failures.length > 0) {
    const columns = [{ title: 'Failed' }, { title: 'Reason' }, { title: 'Rows' }];
    const cells = failures.map(failure => [
      String(failure.rows),
      escapeControls(failure.reason),
      failure.ids.slice(0, 5).join(', '),
    ]);
    parts.push(await renderTerminalTable(ctx.io, columns, cells));
  }

  if (slowest.length > 0) {
    const cells = slowest.map(({ id, seconds: took }) => [id, `${took} s`]);
    parts.push(await renderTerminalTable(ctx.io, [{ title: 'Slowest' }, { title: 'Time' }], cells));
  }

  return parts.join('\n');
}
