import { comparisonExitCode, refuseUnfinishedComparison } from '../../comparing/comparison-end.ts';
import { withJournals } from '../../comparing/comparison-journals.ts';
import { createVariants } from '../../comparing/create-variants.ts';
import {
  judgedExpectations,
  judgeRows,
  readExpectedCases,
  variantVerdicts,
} from '../../comparing/judge-rows.ts';
import { presentComparison } from '../../comparing/present-comparison.ts';
import { forecastComparison, readCheckedRows, runComparison } from '../../comparing/run-comparison.ts';
import type { Context } from '../../context.ts';
import type { FlagsOf } from '../../core/command-spec.ts';
import { usageError, withResumeHint } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-codes.ts';
import { Budget } from '../../creation/budget.ts';
import { parseCaps } from '../../creation/caps.ts';
import { checkOptions, modelList, parseOptions, readsStandardInput } from '../../inputs/flag-values.ts';
import { commandLineImages } from '../../inputs/images/image-source.ts';
import { openImages } from '../../inputs/images/place-images.ts';
import { buildRunBody } from '../../inputs/request-body.ts';
import { collectInputs } from '../../inputs/text-inputs.ts';
import { pacedConnections } from '../../jobs/paced-connection.ts';
import { usesProviderBatch } from '../../jobs/provider-batch/batch-flags.ts';
import { findBatchProvider } from '../../jobs/provider-batch/batch-session.ts';
import type { ResumableRequests } from '../../jobs/resumable-requests.ts';
import { printValue } from '../../outputs/print-json.ts';
import { checkWritableFile } from '../../outputs/saving/check-writable.ts';
import { isPagePrinted } from '../../outputs/saving/special-file.ts';
import { flagOrSetting } from '../../settings/settings.ts';
import { failsGate, parseMargin, type VerdictGate } from '../../statistics/verdict-gate.ts';
import { allExpectations } from '../../testing/expectations/expectation.ts';
import { needsJudge } from '../../testing/read-files.ts';
import { Judge } from '../../testing/run/judge.ts';
import type { COMPARE } from './spec.ts';

export type CompareFlags = FlagsOf<typeof COMPARE.flags>;

/** Runs the same rows through several versions or models and shows the differences. Publishes nothing. */
export async function compare(
  ctx: Context,
  targets: readonly string[],
  flags: CompareFlags,
): Promise<ExitCode> {
  const { report, failOn } = flags;
  refuseInputsBesideRows(flags);
  if (report !== undefined && !isPagePrinted(ctx, '--report', report)) {
    checkWritableFile(ctx.cwd, report, '--report');
  }
  refuseStrayFlags(flags);
  const gate = verdictGate(flags);
  const prepared = await prepareComparison(ctx, targets, flags);
  await checkComparisonPrices(prepared);
  if (flags.dryRun === true) return dryRunComparison(ctx, prepared);
  const finished = await runAndJudge(ctx, prepared, flags);
  await prepared.budget.readTotals({ readsList: true });
  const verdicts = variantVerdicts(prepared.variants, finished.judgements ?? new Map());
  await presentComparison(ctx, { ...prepared, ...finished, verdicts }, report);
  refuseUnfinishedComparison({ ...prepared, ...finished });
  const code = comparisonExitCode(finished.compared, failOn);
  const isWorse = gate !== undefined && verdicts.some(({ rates }) => failsGate(gate, rates));
  return code === EXIT.ok && isWorse ? EXIT.runFailed : code;
}

/** Reads and checks what a comparison needs, before anything is created. */
async function prepareComparison(ctx: Context, targets: readonly string[], flags: CompareFlags) {
  const { from, format, delimiter, expect, allowCommands = false } = flags;
  const rate = flagOrSetting(ctx.settings, 'rate', flags.rate);
  const concurrency = flagOrSetting(ctx.settings, 'concurrency', flags.concurrency);
  const caps = parseCaps(flags);
  const budget = new Budget(ctx, caps);
  const options = parseOptions(flags.option);
  const { text, images } = await collectInputs(ctx, { inputs: flags.input, images: flags.image });
  const common = { text, images: await openImages(commandLineImages(ctx), images), options };
  const openConnection = pacedConnections(ctx, rate);
  for (const target of targets) budget.checkCostCap(await openConnection(target));
  const variants = await createVariants(ctx, openConnection, targets, modelList(flags.model));
  for (const { connection, promptVersionId } of variants) {
    await checkOptions(ctx, connection, promptVersionId, options);
  }
  const rows = await readCheckedRows(ctx, { from, format, delimiter }, common, variants);
  const judge = new Judge(ctx, flags.judge, budget);
  const expected =
    expect === undefined
      ? undefined
      : await readExpectedCases(ctx, expect, rows, { variants, judge, allowCommands });
  const judged = expected ? judgedExpectations(expected) : [];
  const providerBatch = usesProviderBatch(ctx, flags);
  if (providerBatch) {
    for (const { connection, promptVersionId } of variants) {
      await findBatchProvider(connection, promptVersionId);
    }
    for (const expectation of judged) await judge.checkBatch(expectation);
  }
  const names = [ctx.cwd, from ?? JSON.stringify([flags.input, flags.image]), ...targets, ...flags.model];
  return { variants, rows, expected, judged, judge, budget, caps, concurrency, providerBatch, names };
}

type PreparedComparison = Awaited<ReturnType<typeof prepareComparison>>;

/** Prints the number of rows and the estimated cost. */
async function dryRunComparison(ctx: Context, prepared: PreparedComparison): Promise<ExitCode> {
  const { variants, rows, expected, judge, caps, providerBatch } = prepared;
  const forecast = await forecastComparison(rows, variants, providerBatch);
  for (const { row } of expected ? rows : []) {
    const expectations = allExpectations(expected?.byRow.get(row)?.expect ?? []);
    for (const { text: prompt, model } of [...expectations].filter(needsJudge)) {
      for (const _ of variants) await judge.forecast(forecast, { prompt, model }, providerBatch);
    }
  }
  if (ctx.globals.json) await printValue(ctx, { rows: rows.length, ...forecast.data() });
  ctx.io.note(`note: ${forecast.text(caps)}; nothing was created`);
  return EXIT.ok;
}

/** Refuses models without a price under `--max-cost`, before anything is created. */
async function checkComparisonPrices({
  variants,
  rows,
  budget,
  judge,
  judged,
}: PreparedComparison): Promise<void> {
  for (const [index, { connection }] of variants.entries()) {
    const request = rows[0]?.requests[index];
    if (request !== undefined) await budget.checkPrice(connection, buildRunBody(request));
  }
  for (const expectation of judged) await judge.checkPrice(expectation);
}

/** Runs every row through every variant, then judges the answers. `judgements` is undefined without `--expect`. */
async function runAndJudge(ctx: Context, prepared: PreparedComparison, flags: CompareFlags) {
  const { variants, rows, expected, judge, budget, concurrency, providerBatch, names } = prepared;
  const hasJudged = prepared.judged.length > 0;
  const judgeConnection = hasJudged ? await ctx.localConnection('the judge') : undefined;
  const work = async (kept: ReadonlyMap<string, ResumableRequests>) => {
    const keepMedia = flags.report !== undefined;
    const compared = await runComparison(ctx, rows, variants, { concurrency, budget, keepMedia, kept });
    const judgeRequests = judgeConnection && kept.get(judgeConnection.service);
    const judgements =
      expected &&
      (await judgeRows(ctx, compared, expected, { variants, judge, budget, kept: judgeRequests }));
    return { compared, judgements };
  };
  if (ctx.isReplay) return await work(new Map());
  const { resume = false, retryFailed = false, retryUnknown = false, cancel = false } = flags;
  const connections = variants.map(({ connection }) => connection);
  if (judgeConnection !== undefined) connections.push(judgeConnection);
  const resuming = { resume, retryFailed, retryUnknown, cancel, providerBatch };
  const comparison = { ...resuming, names, connections, budget, concurrency };
  return await withJournals(ctx, comparison, work).catch((error: unknown) => {
    const isStopped = connections.some(({ embedded }) => embedded);
    throw withResumeHint(error, isStopped ? [RETRY_STOPPED] : []);
  });
}

const RETRY_STOPPED = 'Runs that were stopped have failed; --resume --retry-failed makes them again.';

function refuseInputsBesideRows({ from, input, image }: CompareFlags): void {
  if (from === '-' && (input.some(readsStandardInput) || image.includes('-'))) {
    throw usageError(
      'standard input can be read only once, and --from - reads it',
      'Give the other one from a file.',
    );
  }
}

/** Returns the verdict that fails the command. @throws {CliError} USAGE_ERROR if the flags can't be combined */
function verdictGate({ failOn, margin, expect }: CompareFlags): VerdictGate | undefined {
  if (margin !== undefined && failOn !== 'unsure') throw usageError('--margin needs --fail-on unsure');
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
