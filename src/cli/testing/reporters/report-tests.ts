import { getErrorMessage } from '../../../utils/error-utils.ts';
import type { Context } from '../../context.ts';
import { type CliError, unwritableError, usageError } from '../../core/errors.ts';
import { renderGridMarkdown } from '../../outputs/html/grid-markdown.ts';
import { renderGridPage } from '../../outputs/html/grid-page.ts';
import { printValue } from '../../outputs/print-json.ts';
import { checkWritableFile } from '../../outputs/saving/check-writable.ts';
import { writeNamedFile } from '../../outputs/saving/special-file.ts';
import { escapeControls } from '../../terminal/sanitise.ts';
import type { EntryResult } from '../entry-result.ts';
import type { Reporter, ReportOutput } from '../test-options.ts';
import { renderGithubReport, writeJobSummary } from './github-report.ts';
import { buildJsonReport } from './json-report.ts';
import { renderJunitReport } from './junit-report.ts';
import { type ReportedResult, withReasons } from './reported-result.ts';
import { buildTestsGrid, type ReportMaterial } from './tests-grid.ts';
import { renderLinesReport, renderTreeReport } from './text-report.ts';

/** Maximum length of a GitHub comment, in characters. */
const MAX_COMMENT_LENGTH = 65_536;

/** Refuses report files that can't be written, before anything is sent. */
export function checkOutputs({ cwd }: Context, outputs: readonly ReportOutput[]): void {
  for (const { out } of outputs) {
    if (out !== undefined) checkWritableFile(cwd, out, '--out');
  }
}

/**
 * Prints the results and writes the requested reports. A report that can't be written is printed in
 * place of the results, after all others were written.
 *
 * @throws {CliError} for the first report that can't be written
 */
export async function reportTests(
  ctx: Context,
  entryResults: readonly EntryResult[],
  outputs: readonly ReportOutput[],
  material: ReportMaterial,
): Promise<void> {
  const results = await withReasons(ctx, entryResults, material.summary);
  const writeErrors: CliError[] = [];
  for (const { reporter, out } of outputs) {
    if (out === undefined) continue;
    const error = await writeTestReport(ctx, out, renderTestReport(results, reporter, material));
    if (error !== undefined) writeErrors.push(error);
  }

  const summaryFile = ctx.env['GITHUB_STEP_SUMMARY'] ?? '';
  const needsJobSummary = isOnGithub(ctx) || outputs.some(isGithub);
  if (needsJobSummary && summaryFile !== '') {
    await writeJobSummary(results, material, summaryFile, line => ctx.io.note(line));
  }

  const [firstError] = writeErrors;
  if (firstError !== undefined) throw firstError;
  await printResults(ctx, results, outputs, material);
}

async function printResults(
  ctx: Context,
  results: readonly ReportedResult[],
  outputs: readonly ReportOutput[],
  material: ReportMaterial,
): Promise<void> {
  if (ctx.globals.json) {
    return printValue(
      ctx,
      buildJsonReport(results, material.budget.computeTotals(), material.summary),
    );
  }

  const printedReporter = outputs.find(({ out }) => out === undefined)?.reporter;
  const { stdout, paint } = ctx.io;
  if (printedReporter !== undefined || isOnGithub(ctx)) {
    await printReport(ctx, renderTestReport(results, printedReporter ?? 'github', material));
  } else {
    const { summary } = material;
    await ctx.io.out(
      stdout.isTerminal
        ? renderTreeReport(results, paint, summary)
        : renderLinesReport(results, summary),
    );
  }
}

/** Returns true in a job of GitHub Actions, where annotations are the default report. */
export function isOnGithub({ env }: Pick<Context, 'env'>): boolean {
  return env['GITHUB_ACTIONS'] === 'true';
}

function isGithub({ reporter }: ReportOutput): boolean {
  return reporter === 'github';
}

function renderTestReport(
  results: readonly ReportedResult[],
  reporter: Reporter,
  material: ReportMaterial,
): string {
  switch (reporter) {
    case 'junit':
      return renderJunitReport(results, material.budget.computeTotals(), material.summary);
    case 'html':
      return renderGridPage(buildTestsGrid(results, material));
    case 'markdown':
      return renderGridMarkdown(buildTestsGrid(results, material), MAX_COMMENT_LENGTH);
    case 'github':
      return renderGithubReport(results, material.summary);
    case 'json':
    default: {
      const report = buildJsonReport(results, material.budget.computeTotals(), material.summary);
      return `${JSON.stringify(report, undefined, 2)}\n`;
    }
  }
}

async function printReport({ io }: Context, text: string): Promise<void> {
  await io.out(io.stdout.isTerminal ? escapeControls(text) : text);
}

/**
 * Writes a report. If that fails, prints it and returns the error: a failed write must not cost the
 * results of tests that have run.
 */
async function writeTestReport(
  ctx: Context,
  out: string,
  text: string,
): Promise<CliError | undefined> {
  try {
    await writeNamedFile(ctx, out, text);
    return undefined;
  } catch (error) {
    await printReport(ctx, text);
    const hint = 'The report is on standard output.';
    return unwritableError(
      error,
      usageError(`--out: ${out} can't be written: ${getErrorMessage(error)}`, hint),
      hint,
    );
  }
}
