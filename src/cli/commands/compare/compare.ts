import { checkComparisonPrices, forecastComparison } from '../../comparing/comparison-costs.ts';
import {
  getComparisonExitCode,
  throwIfComparisonUnfinished,
} from '../../comparing/comparison-end.ts';
import { type PreparedComparison, prepareComparison } from '../../comparing/prepare-comparison.ts';
import { presentComparison } from '../../comparing/present-comparison.ts';
import { runComparison } from '../../comparing/run-comparison.ts';
import { computeVariantVerdicts } from '../../comparing/variant-verdicts.ts';
import type { Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { usageError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-codes.ts';
import { refuseSecondStdinReader } from '../../inputs/flag-values.ts';
import { printValue } from '../../outputs/print-json.ts';
import { checkWritableFile } from '../../outputs/saving/check-writable.ts';
import { replacesPrintedResult } from '../../outputs/saving/special-file.ts';
import { failsGate, parseMargin, type VerdictGate } from '../../statistics/verdict-gate.ts';
import type { COMPARE } from './spec.ts';

export type CompareFlags = FlagsOf<typeof COMPARE.flags>;

/**
 * Runs the same rows through several versions or models and shows the differences. Publishes
 * nothing.
 */
export async function compare(
  ctx: Context,
  targets: readonly string[],
  flags: CompareFlags,
): Promise<ExitCode> {
  const { report, failOn } = flags;
  refuseSecondStdinReader(flags);

  if (report !== undefined && !replacesPrintedResult(ctx, '--report', report)) {
    checkWritableFile(ctx.cwd, report, '--report');
  }

  refuseStrayFlags(flags);
  const gate = readVerdictGate(flags);
  const prepared = await prepareComparison(ctx, targets, flags);
  await checkComparisonPrices(prepared);
  if (flags.dryRun === true) return dryRunComparison(ctx, prepared);

  const { resume = false, retryFailed = false, retryUnknown = false, cancel = false } = flags;
  const finished = await runComparison(ctx, prepared, {
    resume,
    retryFailed,
    retryUnknown,
    cancel,
    keepMedia: report !== undefined,
  });

  await prepared.budget.readTotals({ readsList: true });
  const verdicts = computeVariantVerdicts(prepared.variants, finished.judgements ?? new Map());
  await presentComparison(ctx, { ...prepared, ...finished, verdicts }, report);
  throwIfComparisonUnfinished({ ...prepared, ...finished });

  const exitCode = getComparisonExitCode(finished.comparedRows, failOn);
  const hasFailedGate = gate !== undefined && verdicts.some(({ rates }) => failsGate(gate, rates));
  return exitCode === EXIT.ok && hasFailedGate ? EXIT.runFailed : exitCode;
}

/** Prints the number of rows and the estimated cost. */
async function dryRunComparison(ctx: Context, prepared: PreparedComparison): Promise<ExitCode> {
  const forecast = await forecastComparison(prepared);
  if (ctx.globals.json) await printValue(ctx, { rows: prepared.rows.length, ...forecast.toData() });
  ctx.io.note(`note: ${forecast.format(prepared.caps)}; nothing was created`);
  return EXIT.ok;
}

/**
 * Returns the verdict that fails the command.
 *
 * @throws {CliError} USAGE_ERROR if the flags can't be combined
 */
function readVerdictGate({ failOn, margin, expect }: CompareFlags): VerdictGate | undefined {
  if (margin !== undefined && failOn !== 'unsure') {
    throw usageError('--margin needs --fail-on unsure');
  }

  if (failOn !== 'worse' && failOn !== 'unsure') return undefined;

  if (expect === undefined) {
    throw usageError(
      `--fail-on ${failOn} needs --expect: the test file that says what is good`,
      'For example: --expect extract.test.yaml',
    );
  }

  return failOn === 'worse' ? { failOn } : { failOn, margin: parseMargin(margin) };
}

function refuseStrayFlags({
  resume,
  retryFailed,
  retryUnknown,
  cancel,
  expect,
  judge,
  allowCommands,
}: CompareFlags): void {
  if (resume !== true) {
    if (retryFailed === true) throw usageError('--retry-failed needs --resume');
    if (cancel === true) throw usageError('--cancel needs --resume');
    if (retryUnknown === true) throw usageError('--retry-unknown needs --resume');
  }
  if (expect === undefined) {
    if (judge !== undefined) throw usageError('--judge needs --expect');
    if (allowCommands === true) throw usageError('--allow-commands needs --expect');
  }
}
