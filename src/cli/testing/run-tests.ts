import type { Connection, Context } from '../context.ts';
import { counted } from '../core/counted.ts';
import { Budget } from '../creation/budget.ts';
import { estimateCost, Forecast } from '../creation/forecast.ts';
import { type CliError, notFoundError, withResumeHint } from '../errors.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { buildRunBody } from '../inputs/request-body.ts';
import { concurrencyFor, pacedConnections } from '../jobs/paced-connection.ts';
import { withResumeJournal } from '../jobs/resume-journal.ts';
import { areUnanswered, nobodyAnswered } from '../jobs/run-requests.ts';
import { StopControl } from '../jobs/stop-control.ts';
import { printValue, wantsJson } from '../outputs/json.ts';
import { type MediaContent, mediaOf } from '../outputs/media-content.ts';
import { printPaid } from '../outputs/results.ts';
import { goodRunsNeeded, highestReachable } from '../statistics/confidence-sequence.ts';
import { percentText } from '../statistics/interval.ts';
import { oneLine } from '../terminal/sanitise.ts';
import {
  type BaselineComparison,
  compareWithBaseline,
  requirePair,
} from './baseline/compare-with-baseline.ts';
import { type Baseline, readBaseline } from './baseline/read-baseline.ts';
import { findTestFiles } from './cases/find-test-files.ts';
import { type TestCase, type TestFile, withChosenCases } from './cases/test-case.ts';
import { checkUpdatable, updateFault, updateTestFile } from './cases/update-test-file.ts';
import { allExpectations } from './expectations/expectation.ts';
import { hasWords, judgeFaults, needsJudge, readFiles } from './read-files.ts';
import { reportCap, reportFile, reportLeftOut, reportPostponed, testsExitCode } from './report-end.ts';
import { checkOutputs, isOnGithub, reportTests } from './report-tests.ts';
import {
  type EntryResult,
  type FaultyTestFile,
  faultyFileResult,
  isUnchecked,
  uncheckedResult,
} from './result.ts';
import { Judge } from './run/judge.ts';
import { checkBatches, checkPrices, type PreparedEntry, prepareEntries } from './run/prepare-entries.ts';
import { hasFailed, runEntries } from './run/run-entries.ts';
import { addEarlierTurns, noteEarlierTurns, withEarlierTurns, withoutUncheckedTurns } from './run/turns.ts';
import { summarize } from './summary.ts';
import type { TestOptions } from './test-options.ts';

/**
 * Runs the cases of test files and reports them.
 *
 * @returns 0 if all passed, 5 if some failed; the code of the first case that could not be run outranks both
 */
export async function runTests(ctx: Context, options: TestOptions): Promise<ExitCode> {
  checkOutputs(ctx, options.outputs);
  return (await runRound(ctx, options, new Budget(ctx, options.caps))).code;
}

/** One of several rounds, each of which runs some cases. */
export interface Round {
  readonly isChosen: (file: TestFile, testCase: TestCase) => boolean;
  /** Called once it is certain that no run of the round costs anything. */
  readonly onFree: () => void;
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
  round?: Round,
): Promise<{ readonly code: ExitCode; readonly files: readonly TestFile[] }> {
  const prepared = await prepareRound(ctx, options, budget, round);
  const { files, paths, entries, faults, judge, judged, baseline } = prepared;
  if (baseline && entries.length > 0)
    requirePair(
      baseline,
      entries.map(({ entry }) => entry),
    );
  const unchecked = entries.filter(({ entry }) => isUnchecked(entry.testCase));
  const checked = entries.filter(({ entry }) => !isUnchecked(entry.testCase));
  await checkPrices(budget, checked);
  for (const expectation of judged) await judge.checkPrice(expectation);
  if (options.dryRun) return { files, code: await dryRunTests(ctx, checked, faults, { ...options, judge }) };
  if (round !== undefined && (await costsNothing(ctx, entries, prepared.isJudged))) round.onFree();
  const media = new Map<string, MediaContent>();
  const tests = { entries: checked, paths, judge, budget, media };
  const ran = await runEntriesByService(ctx, tests, options).catch((error: unknown) => {
    throw withResumeHint(error);
  });
  const results = inEntryOrder([...ran, ...unchecked.map(({ entry }) => uncheckedResult(entry))], entries);
  if (results.length + faults.length === 0 && !options.watch) throw nothingToRun(options);
  const updated = options.update ? await updateFiles(ctx, results) : { results, faults: [] };
  const ordered = inOrder([...updated.results, ...faults.map(faultyFileResult)], paths);
  const comparison = baseline && compareWithBaseline(baseline, ordered);
  await reportRound(ctx, options, { budget, round, files, media, results, ordered, comparison });
  if (updated.faults.length > 0) throw updated.faults[0];
  const newRepetitions = ordered.flatMap(({ repetitions }) =>
    repetitions.filter(({ isEarlier }) => !isEarlier),
  );
  if (areUnanswered(newRepetitions)) throw nobodyAnswered();
  return { files, code: testsExitCode(ordered, options.gate, comparison) };
}

interface FinishedRound {
  readonly budget: Budget;
  readonly round: Round | undefined;
  readonly files: readonly TestFile[];
  readonly media: Map<string, MediaContent>;
  /** The results of the cases. */
  readonly results: readonly EntryResult[];
  /** The results with those of faulty files, in the order of the files. */
  readonly ordered: readonly EntryResult[];
  readonly comparison: BaselineComparison | undefined;
}

/** Reports the results of a round, its spending, and what it left undone. */
async function reportRound(
  ctx: Context,
  options: TestOptions,
  { budget, round, files, media, results, ordered, comparison }: FinishedRound,
): Promise<void> {
  await budget.readTotals({ readsList: true });
  // The faults of the files are already reported; without results there is nothing else to show.
  if (results.length > 0 || options.outputs.length > 0 || wantsJson(ctx) || isOnGithub(ctx)) {
    const summary = summarize(ordered, options.repeating, comparison);
    await printPaid(ctx, budget.newRuns, out =>
      reportTests(out, ordered, options.outputs, { media, budget, summary }),
    );
  }
  const beginning = round === undefined || ctx.isReplay ? '' : 'so far ';
  for (const [index, line] of budget.spentLines('cases').entries()) {
    ctx.io.note(`note: ${index === 0 ? beginning : ''}${line}`);
  }
  if (budget.reached !== undefined) reportCap(ctx, budget.reached, results);
  reportPostponed(ctx, results);
  reportLeftOut(ctx, files, results);
}

/** Reads the test files, and reports and checks what can be known before anything is sent. */
async function prepareRound(ctx: Context, options: TestOptions, budget: Budget, round: Round | undefined) {
  const warn = (line: string): void => ctx.io.error(`warning: ${oneLine(line)}`);
  const found = await findTestFiles(ctx, options.paths, warn);
  const paths = found.files;
  if (options.update) for (const file of paths) checkUpdatable(ctx, file);
  const baseline = await readFilteredBaseline(ctx, options);
  const judge = new Judge(ctx, options.judge, budget);
  const read = await readFiles(ctx, found, judge, options);
  const cases = read.files.flatMap(file => file.cases);
  const allJudged = [...allExpectations(cases.flatMap(({ expect }) => expect))].filter(needsJudge);
  const isJudged = allJudged.length > 0;
  const paced = pacedConnections(ctx, options.rate);
  const connectionOf = async (target: string): Promise<Connection> => {
    const connection = await paced(target);
    // Judging has a known cost even if another service runs the prompts.
    if (!isJudged) budget.checkCostCap(connection);
    return connection;
  };
  const { entries, faults: entryFaults } = await prepareEntries(
    ctx,
    connectionOf,
    addEarlierTurns(ctx, chosenFiles(read.files, round)),
  );
  const runnable = withoutUncheckedTurns(entries);
  const chosen = options.failed ? await failedEntries(ctx, runnable, paths) : runnable;
  // Only the chosen cases of a file need their judges.
  const unjudged = options.failed ? await judgeFaults(ctx, filesOf(chosen), judge) : [];
  const faults = [...read.faults, ...entryFaults, ...unjudged];
  for (const { fault } of faults) reportFile(ctx, fault);
  noteUnreachable(ctx, chosen);
  const expectations = allExpectations(chosen.flatMap(({ entry }) => entry.testCase.expect));
  const judged = [...new Set(expectations)].filter(needsJudge);
  if (options.providerBatch) {
    await checkBatches(chosen);
    for (const expectation of judged) await judge.checkBatch(expectation);
  }
  return {
    files: read.files,
    paths,
    entries: chosen.filter(({ entry }) => !unjudged.some(({ file }) => file === entry.file.file)),
    faults,
    judge,
    judged,
    isJudged,
    baseline,
  };
}

/** Returns the files with the cases that the round chooses. */
function chosenFiles(files: readonly TestFile[], round: Round | undefined): readonly TestFile[] {
  if (round === undefined) return files;
  return files.map(file => withChosenCases(file, testCase => round.isChosen(file, testCase)));
}

/** Sorts results as their cases stand in the files: cases without checks don't run with the others. */
function inEntryOrder(results: readonly EntryResult[], entries: readonly PreparedEntry[]): EntryResult[] {
  const places = new Map(entries.map(({ entry }, index) => [entry, index]));
  const place = ({ entry }: EntryResult): number => places.get(entry) ?? places.size;
  return results.toSorted((one, other) => place(one) - place(other));
}

/** Reads the baseline without the cases that `--filter` leaves out, which must not count as gone. */
async function readFilteredBaseline(
  ctx: Context,
  { baseline, filter, repeating }: TestOptions,
): Promise<Baseline | undefined> {
  if (baseline === undefined) return undefined;
  const { cases } = await readBaseline(ctx, baseline, repeating);
  return { cases: cases.filter(testCase => hasWords(filter, testCase)) };
}

/** Notes each required rate that the number of runs can't prove, even if all of them pass. */
function noteUnreachable(ctx: Context, entries: readonly PreparedEntry[]): void {
  const rates = entries.flatMap(({ entry: { testCase } }) =>
    testCase.untilDecided && testCase.pass.kind === 'rate'
      ? [[testCase.pass.rate, testCase.repeat] as const]
      : [],
  );
  for (const [rate, most] of new Map(rates)) {
    const needed = goodRunsNeeded(rate);
    if (needed <= most) continue;
    const reach = `${most} good answers reach ${percentText(Math.floor(highestReachable(most) * 1000) / 1000)}`;
    const more = Number.isFinite(needed) ? `it needs ${needed}` : 'it can only fail or stay undecided';
    ctx.io.note(`note: a rate of ${percentText(rate)} can't be shown: ${reach}; ${more}`);
  }
}

/** Returns true if nothing costs money: every answer is recorded or comes from a free model. */
async function costsNothing(
  ctx: Context,
  entries: readonly PreparedEntry[],
  isJudged: boolean,
): Promise<boolean> {
  if (ctx.isReplay || isJudged) return ctx.isReplay;
  const kinds = new Map(
    entries.map(entry => [`${entry.request.promptVersionId} ${entry.request.model}`, entry]),
  );
  for (const { connection, request } of kinds.values()) {
    const estimate = await estimateCost(connection, buildRunBody(request)).catch(() => undefined);
    if (estimate?.cost !== 0) return false;
  }
  return true;
}

async function dryRunTests(
  ctx: Context,
  entries: readonly PreparedEntry[],
  faults: readonly FaultyTestFile[],
  { judge, caps, providerBatch }: { readonly judge: Judge } & Pick<TestOptions, 'caps' | 'providerBatch'>,
): Promise<ExitCode> {
  const forecast = new Forecast();
  const caseFaults = entries.flatMap(({ entry }) => entry.testCase.fault ?? []);
  for (const fault of caseFaults) reportFile(ctx, fault);
  for (const { connection, request, estimatedCredits, entry } of entries) {
    if (entry.testCase.fault !== undefined) continue;
    const judged = [...allExpectations(entry.testCase.expect)].filter(needsJudge);
    for (let repetition = 0; repetition < entry.testCase.repeat; repetition += 1) {
      await forecast.add(connection, buildRunBody(request), { estimatedCredits, providerBatch });
      // The question's final text needs an answer that does not exist yet.
      for (const { text, model, rank, judgeConfig } of judged)
        await judge.forecast(forecast, { prompt: text, model, rank, judgeConfig }, providerBatch);
    }
  }
  if (wantsJson(ctx))
    await printValue(ctx, {
      cases: entries.length,
      faults: faults.length + caseFaults.length,
      ...forecast.data(),
    });
  ctx.io.note(`note: ${counted(entries.length, 'case')} checked; nothing was created`);
  ctx.io.note(`note: ${forecast.text(caps)}`);
  return (faults[0]?.fault ?? caseFaults[0])?.exitCode ?? EXIT.ok;
}

interface PreparedTests {
  readonly entries: readonly PreparedEntry[];
  /** The paths of all named test files. */
  readonly paths: readonly string[];
  readonly judge: Judge;
  readonly budget: Budget;
  /** Collects the pictures for a page. */
  readonly media: Map<string, MediaContent>;
}

/** Runs the entries of each service. */
async function runEntriesByService(
  ctx: Context,
  tests: PreparedTests,
  options: TestOptions,
): Promise<EntryResult[]> {
  const results: EntryResult[] = [];
  const stop = new StopControl();
  for (const [connection, own] of byService(tests.entries)) {
    const ran = await withResumeJournal(
      ctx,
      { kind: 'tests', names: tests.paths.toSorted() },
      connection,
      journal => {
        const concurrency = concurrencyFor(connection, options.concurrency);
        const { judge, budget } = tests;
        return runEntries(ctx, connection, own, { ...options, concurrency, budget, journal, judge, stop });
      },
    );
    results.push(...ran);
    if (!options.outputs.some(({ reporter }) => reporter === 'html')) continue;
    const runs = ran.flatMap(({ repetitions }) => repetitions.flatMap(({ run }) => run ?? []));
    const content = await mediaOf(connection, runs, { forPage: true, signal: ctx.signal });
    for (const [url, medium] of content) tests.media.set(url, medium);
  }
  return results;
}

/** Returns the entries that failed when these files were last tested, and those before them whose answers they take. */
async function failedEntries(
  ctx: Context,
  all: readonly PreparedEntry[],
  paths: readonly string[],
): Promise<PreparedEntry[]> {
  const chosen = new Set<PreparedEntry>(all.filter(({ entry }) => isUnchecked(entry.testCase)));
  for (const [connection, own] of byService(all.filter(prepared => !chosen.has(prepared)))) {
    await withResumeJournal(ctx, { kind: 'tests', names: paths.toSorted() }, connection, async journal => {
      const failed = own.filter(prepared => hasFailed(journal, prepared)).map(({ entry }) => entry);
      const needed = withEarlierTurns(
        own.map(({ entry }) => entry),
        failed,
      );
      noteEarlierTurns(ctx, needed.size - failed.length);
      for (const prepared of own) if (needed.has(prepared.entry)) chosen.add(prepared);
    });
  }
  return all.filter(prepared => chosen.has(prepared));
}

/** Returns the files of entries, with the cases of these entries alone. */
function filesOf(entries: readonly PreparedEntry[]): TestFile[] {
  const cases = new Set(entries.map(({ entry }) => entry.testCase));
  const files = new Set(entries.map(({ entry }) => entry.file));
  return [...files].map(file => withChosenCases(file, testCase => cases.has(testCase)));
}

/** Returns the entries of each service, with one of its connections. */
function byService(entries: readonly PreparedEntry[]): (readonly [Connection, PreparedEntry[]])[] {
  const connections = new Map(entries.map(({ connection }) => [connection.service, connection]));
  return [...connections].map(([service, connection]) => [
    connection,
    entries.filter(entry => entry.connection.service === service),
  ]);
}

function nothingToRun({ failed, filter }: TestOptions): CliError {
  if (failed) {
    return notFoundError(
      'no case failed when these tests were last run',
      'Leave out --failed to run them all.',
    );
  }
  return notFoundError(`no case has ${JSON.stringify(filter)} in its name or file`);
}

/**
 * Writes actual answers as the expected ones. Expectations that can't be written, or don't match all answers, stay failed. A
 * file that can't be written is a fault, and its results stay unchanged.
 */
async function updateFiles(
  ctx: Context,
  results: readonly EntryResult[],
): Promise<{ readonly results: readonly EntryResult[]; readonly faults: readonly unknown[] }> {
  const updated: EntryResult[] = [];
  const faults: unknown[] = [];
  const names = new Map(results.map(({ entry: { file } }) => [file.file, file.name]));
  for (const [file, name] of names) {
    const own = results.filter(({ entry }) => entry.file.file === file);
    try {
      const { results: judged, written } = await updateTestFile(file, own);
      updated.push(...judged);
      if (written > 0) ctx.io.note(`note: ${name}: ${counted(written, 'expectation')} updated`);
    } catch (error) {
      updated.push(...own);
      faults.push(updateFault(name, error));
    }
  }
  return { results: updated, faults };
}

/** Groups the results by file, in the order of the files. */
function inOrder(results: readonly EntryResult[], paths: readonly string[]): EntryResult[] {
  const place = ({ entry }: EntryResult): number => paths.indexOf(entry.file.file);
  return results.toSorted((one, other) => place(one) - place(other));
}
