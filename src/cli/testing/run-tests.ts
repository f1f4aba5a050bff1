import type { Context } from '../context.ts';
import { type CliError, notFoundError, withResumeHint } from '../core/errors.ts';
import type { ExitCode } from '../core/exit-codes.ts';
import { pluralize } from '../core/pluralize.ts';
import { Budget } from '../creation/spending/budget.ts';
import { forecastCost } from '../creation/spending/forecast.ts';
import { formatSpentLines } from '../creation/spending/spending-text.ts';
import { buildRunBody } from '../inputs/request-body.ts';
import { areUnanswered, nobodyAnsweredError } from '../jobs/run-requests.ts';
import type { MediaContent } from '../outputs/media-content.ts';
import { printPaid } from '../outputs/present-run.ts';
import { withSpinner } from '../terminal/spinner.ts';
import {
  type BaselineComparison,
  compareWithBaseline,
  requireComparable,
} from './baseline/compare-with-baseline.ts';
import type { TestFile } from './cases/test-case.ts';
import { dryRunTests } from './dry-run-tests.ts';
import {
  type EntryResult,
  isUnchecked,
  toFaultyFileResult,
  toUncheckedResult,
} from './entry-result.ts';
import { type PreparedRound, prepareRound, type WatchRound } from './prepare-round.ts';
import {
  getTestsExitCode,
  reportCap,
  reportOmissions,
  reportPostponedCases,
  reportStoppedRuns,
  reportTruncatedAnswers,
} from './reporters/report-end.ts';
import { checkOutputs, isOnGithub, reportTests } from './reporters/report-tests.ts';
import { summarize } from './reporters/test-summary.ts';
import { checkPrices, type PreparedEntry } from './run/prepare-entries.ts';
import { type PreparedTests, runEntriesByService } from './run/run-by-service.ts';
import type { TestOptions } from './test-options.ts';
import { throwIfUpdateFailed, updateTestFiles } from './update-test-files.ts';

/**
 * Runs the cases of test files and reports them.
 *
 * @returns 0 if all passed, 5 if some failed; the code of the first case that could not be run
 * outranks both
 */
export async function runTests(ctx: Context, options: TestOptions): Promise<ExitCode> {
  checkOutputs(ctx, options.outputs);
  return (await runRound(ctx, options, new Budget(ctx, options.caps))).exitCode;
}

/**
 * Runs and reports the selected cases; all by default.
 *
 * @param budget the budget that this round shares with earlier ones
 * @returns its exit code, and the readable files with all their cases
 */
export async function runRound(
  ctx: Context,
  options: TestOptions,
  budget: Budget,
  round?: WatchRound,
): Promise<{ readonly exitCode: ExitCode; readonly files: readonly TestFile[] }> {
  const preparedRound = await prepareRound(ctx, options, budget, round);
  const { files, paths, entries, faultyFiles, judge, baseline } = preparedRound;
  const entriesWithChecks = entries.filter(({ entry }) => !isUnchecked(entry.testCase));
  await checkBeforeSending(preparedRound, budget, entriesWithChecks);

  if (options.dryRun) {
    return {
      files,
      exitCode: await dryRunTests(ctx, entriesWithChecks, faultyFiles, { ...options, judge }),
    };
  }

  if (round !== undefined && (await isRoundFree(ctx, entriesWithChecks, preparedRound))) {
    round.onFreeRound();
  }

  const media = new Map<string, MediaContent>();
  const tests = { entries: entriesWithChecks, paths, judge, budget, media };
  const runResults = await runEntriesWithProgress(ctx, options, files, tests);

  const resultsBeforeUpdate = withUncheckedResults(runResults, entries);
  if (resultsBeforeUpdate.length + faultyFiles.length === 0 && !options.watch) {
    reportNothingRun(ctx, options, preparedRound.passedCount);
  }

  const update = options.update
    ? await updateTestFiles(ctx, resultsBeforeUpdate)
    : { results: resultsBeforeUpdate, faults: [] };
  const orderedResults = sortByFileOrder(
    [...update.results, ...faultyFiles.map(toFaultyFileResult)],
    paths,
  );
  const comparison = baseline && compareWithBaseline(baseline, orderedResults);
  await reportRound(ctx, options, {
    budget,
    round,
    files,
    media,
    resultsBeforeUpdate,
    orderedResults,
    comparison,
  });

  throwIfUpdateFailed(ctx, update.faults);
  throwIfUnanswered(orderedResults);
  return { files, exitCode: getTestsExitCode(orderedResults, options.gate, comparison) };
}

/** @throws {CliError} if the baseline has none of the cases, or a capped model has no price */
async function checkBeforeSending(
  { entries, judge, judgedExpectations, baseline }: PreparedRound,
  budget: Budget,
  entriesWithChecks: readonly PreparedEntry[],
): Promise<void> {
  if (baseline && entries.length > 0) {
    requireComparable(
      baseline,
      entries.map(({ entry }) => entry),
    );
  }

  await checkPrices(budget, entriesWithChecks);
  for (const expectation of judgedExpectations) await judge.checkPrice(expectation);
}

/** @throws {CliError} if no service answered any of the requests that were sent now */
function throwIfUnanswered(results: readonly EntryResult[]): void {
  const repetitions = results.flatMap(result => result.repetitions);
  if (areUnanswered(repetitions.filter(({ isEarlier }) => !isEarlier))) throw nobodyAnsweredError();
}

/** Runs the cases that have checks, and shows how many answers are checked. */
async function runEntriesWithProgress(
  ctx: Context,
  options: TestOptions,
  files: readonly TestFile[],
  tests: Omit<PreparedTests, 'onChecked'>,
): Promise<readonly EntryResult[]> {
  const answerCount = tests.entries.reduce((sum, { entry }) => sum + entry.testCase.repeat, 0);
  let checkedCount = 0;
  const onChecked = (): void => {
    checkedCount += 1;
  };

  const concurrency = options.concurrency ?? findLowestConcurrency(files);
  const pendingResults = runEntriesByService(
    ctx,
    { ...tests, onChecked },
    { ...options, concurrency },
  );
  const formatCheckProgress = (): string =>
    `${checkedCount} of ${pluralize(answerCount, 'answer')} checked`;

  return await withSpinner(ctx, formatCheckProgress, pendingResults).catch((error: unknown) => {
    const hasEmbeddedRuns = tests.entries.some(({ connection }) => connection.isEmbedded);
    throw withResumeHint(
      error,
      hasEmbeddedRuns
        ? ['Cases whose runs were stopped have failed; --failed then runs them again.']
        : [],
    );
  });
}

/**
 * Notes that no case is left to run.
 *
 * @throws {CliError} exit 4 if no case is known at all
 */
function reportNothingRun({ io }: Context, options: TestOptions, passedCount: number): void {
  if (passedCount === 0) throw nothingToRunError(options);
  io.note(`note: no case failed when it was last run; ${pluralize(passedCount, 'case')} passed`);
}

/** Returns the lowest bound of files on the number of open creations; undefined if none has one. */
function findLowestConcurrency(files: readonly TestFile[]): number | undefined {
  const bounds = files.flatMap(({ maxConcurrency }) => maxConcurrency ?? []);
  return bounds.length > 0 ? Math.min(...bounds) : undefined;
}

/** A round whose cases have run. */
interface FinishedRound {
  readonly budget: Budget;
  readonly round: WatchRound | undefined;
  readonly files: readonly TestFile[];
  readonly media: Map<string, MediaContent>;
  /** The results before `--update` changed any of them. */
  readonly resultsBeforeUpdate: readonly EntryResult[];
  /** The results after the update with those of faulty files, in the order of the files. */
  readonly orderedResults: readonly EntryResult[];
  readonly comparison: BaselineComparison | undefined;
}

/** Reports the results of a round, its spending, and the cases that did not run. */
async function reportRound(
  ctx: Context,
  options: TestOptions,
  { budget, round, files, media, resultsBeforeUpdate, orderedResults, comparison }: FinishedRound,
): Promise<void> {
  await budget.readTotals({ readsList: true });

  // The faults of the files are already reported; without results there is nothing else to show.
  const needsReport = options.outputs.length > 0 || ctx.globals.json || isOnGithub(ctx);
  if (needsReport || resultsBeforeUpdate.length > 0) {
    const summary = summarize(orderedResults, options.repeating, comparison);
    await printPaid(ctx, budget.newRuns, out =>
      reportTests(out, orderedResults, options.outputs, { media, budget, summary }),
    );
  }

  const prefix = round === undefined || ctx.isReplay ? '' : 'so far ';
  for (const [index, line] of formatSpentLines(budget, 'cases').entries()) {
    ctx.io.note(`note: ${index === 0 ? prefix : ''}${line}`);
  }

  if (budget.capError !== undefined) reportCap(ctx, budget.capError, resultsBeforeUpdate);
  reportPostponedCases(ctx, resultsBeforeUpdate);
  reportStoppedRuns(ctx, resultsBeforeUpdate);
  reportTruncatedAnswers(ctx, resultsBeforeUpdate);
  reportOmissions(ctx, files, resultsBeforeUpdate);
}

/**
 * Adds the cases without checks, which don't run with the others. Returns the results in the order
 * of the entries.
 */
function withUncheckedResults(
  runResults: readonly EntryResult[],
  entries: readonly PreparedEntry[],
): EntryResult[] {
  const unchecked = entries
    .map(({ entry }) => entry)
    .filter(({ testCase }) => isUnchecked(testCase));
  const positions = new Map(entries.map(({ entry }, index) => [entry, index]));
  const getPosition = ({ entry }: EntryResult): number => positions.get(entry) ?? positions.size;
  return [...runResults, ...unchecked.map(toUncheckedResult)].toSorted(
    (one, other) => getPosition(one) - getPosition(other),
  );
}

/** Returns true if nothing costs money: every answer is recorded or comes from a free model. */
async function isRoundFree(
  ctx: Context,
  entries: readonly PreparedEntry[],
  { isJudged }: Pick<PreparedRound, 'isJudged'>,
): Promise<boolean> {
  if (ctx.isReplay) return true;
  if (isJudged) return false;

  const entryByModel = new Map(
    entries.map(entry => [`${entry.request.promptVersionId} ${entry.request.model}`, entry]),
  );
  for (const { connection, request } of entryByModel.values()) {
    const estimate = await forecastCost(connection, buildRunBody(request)).catch(() => undefined);
    if (estimate?.cost !== 0) return false;
  }

  return true;
}

function nothingToRunError({ failed, filter }: TestOptions): CliError {
  if (failed) {
    return notFoundError(
      'no case is known to have failed when it was last run',
      'Leave out --failed to run them all.',
    );
  }
  return notFoundError(`no case has ${JSON.stringify(filter)} in its name or file`);
}

/** Sorts the results by the order of their files; those of one file keep theirs. */
function sortByFileOrder(results: readonly EntryResult[], paths: readonly string[]): EntryResult[] {
  const getPosition = ({ entry }: EntryResult): number => paths.indexOf(entry.file.path);
  return results.toSorted((one, other) => getPosition(one) - getPosition(other));
}
