import type { Connection, Context } from '../context.ts';
import type { Budget } from '../creation/spending/budget.ts';
import { createPacedConnector } from '../jobs/paced-connection.ts';
import {
  computeHighestProvableRate,
  countGoodRunsNeeded,
} from '../statistics/confidence-sequence.ts';
import { formatPercent } from '../statistics/interval.ts';
import { toOneLine } from '../terminal/sanitise.ts';
import { type Baseline, readBaseline } from './baseline/read-baseline.ts';
import { findTestFiles } from './cases/find-test-files.ts';
import { type TestCase, type TestFile, withChosenCases } from './cases/test-case.ts';
import { checkUpdatable } from './cases/update-test-file.ts';
import { chooseEntries } from './choose-entries.ts';
import type { FaultyTestFile } from './entry-result.ts';
import { type Expectation, flattenExpectations } from './expectations/expectation.ts';
import { Judge } from './judging/judge.ts';
import { matchesFilter, needsJudge, readTestFiles } from './read-test-files.ts';
import { reportTestFault } from './reporters/report-end.ts';
import { addEarlierTurns, withUncheckedTurnFaults } from './run/earlier-turns.ts';
import { checkBatches, type PreparedEntry, prepareEntries } from './run/prepare-entries.ts';
import type { TestOptions } from './test-options.ts';

/** One of several rounds of `--watch`, each of which runs some cases. */
export interface WatchRound {
  readonly isChosen: (file: TestFile, testCase: TestCase) => boolean;
  /** Called once it is certain that no run of the round costs anything. */
  readonly onFreeRound: () => void;
}

/** The cases of a round, ready to run, and what was found out about them. */
export interface PreparedRound {
  readonly files: readonly TestFile[];
  readonly paths: readonly string[];
  readonly entries: readonly PreparedEntry[];
  /** The number of cases that `--failed` leaves out because they passed. */
  readonly passedCount: number;
  readonly faultyFiles: readonly FaultyTestFile[];
  readonly judge: Judge;
  readonly judgedExpectations: readonly Expectation[];
  /** True if any case of the files asks a judge, even one that is not chosen. */
  readonly isJudged: boolean;
  readonly baseline: Baseline | undefined;
}

/** Reads the test files, and reports and checks what can be known before anything is sent. */
export async function prepareRound(
  ctx: Context,
  options: TestOptions,
  budget: Budget,
  round: WatchRound | undefined,
): Promise<PreparedRound> {
  const warn = (line: string): void => ctx.io.error(`warning: ${toOneLine(line)}`);
  const foundTests = await findTestFiles(ctx, options.paths, warn);
  if (options.update) {
    for (const file of foundTests.paths) checkUpdatable(ctx, file);
  }

  const baseline = await readFilteredBaseline(ctx, options);
  const judge = new Judge(ctx, options.judgeModel, budget);
  const { files, faultyFiles: fileFaults } = await readTestFiles(ctx, foundTests, judge, options);

  // Declared models may have changed since an earlier round.
  if (round !== undefined) await ctx.renewModels();
  const isJudged = collectJudgedExpectations(files.flatMap(file => file.cases)).length > 0;
  const connect = createCappedConnector(ctx, options, budget, { isJudged });
  const roundFiles = addEarlierTurns(ctx, pickRoundFiles(files, round));
  const prepared = await prepareEntries(ctx, connect, roundFiles);

  const runnableEntries = withUncheckedTurnFaults(prepared.entries);
  const chosen = await chooseEntries(ctx, options, runnableEntries, judge);
  const faultyFiles = [...fileFaults, ...prepared.faultyFiles, ...chosen.faultyFiles];
  for (const fault of listDistinctFaults(faultyFiles)) reportTestFault(ctx, fault);
  noteUnprovableRates(ctx, options, chosen.entries);

  const judgedExpectations = collectJudgedExpectations(
    chosen.entries.map(({ entry }) => entry.testCase),
  );
  if (options.providerBatch) {
    await checkBatches(chosen.entries);
    for (const expectation of judgedExpectations) await judge.checkBatch(expectation);
  }

  const pathsWithoutJudge = new Set(chosen.faultyFiles.map(({ path }) => path));
  return {
    files,
    paths: foundTests.paths,
    entries: chosen.entries.filter(({ entry }) => !pathsWithoutJudge.has(entry.file.path)),
    passedCount: chosen.passedCount,
    faultyFiles,
    judge,
    judgedExpectations,
    isJudged,
    baseline,
  };
}

/**
 * Returns the faults of files, equal ones once: a fault of the machine, such as a read-only data
 * directory, is that of every file.
 */
function listDistinctFaults(faultyFiles: readonly FaultyTestFile[]): FaultyTestFile['fault'][] {
  const distinctFaults = new Map(
    faultyFiles.map(({ fault }) => [`${fault.status} ${fault.message}`, fault]),
  );
  return [...distinctFaults.values()];
}

/** Returns the expectations that ask a judge. */
function collectJudgedExpectations(cases: readonly TestCase[]): Expectation[] {
  const expectations = new Set(
    flattenExpectations(cases.flatMap(({ expectations }) => expectations)),
  );
  return [...expectations].filter(needsJudge);
}

/**
 * Returns a function that connects to the service of a target, and refuses a service whose costs
 * the cap can't limit.
 */
function createCappedConnector(
  ctx: Context,
  { rate }: TestOptions,
  budget: Budget,
  { isJudged }: { readonly isJudged: boolean },
): (target: string) => Promise<Connection> {
  const connect = createPacedConnector(ctx, rate);
  return async target => {
    const connection = await connect(target);
    // Judging has a known cost even if another service runs the prompts.
    if (!isJudged) budget.checkCostCap(connection);
    return connection;
  };
}

/** Returns the files with the cases that the round chooses. */
function pickRoundFiles(
  files: readonly TestFile[],
  round: WatchRound | undefined,
): readonly TestFile[] {
  if (round === undefined) return files;
  return files.map(file => withChosenCases(file, testCase => round.isChosen(file, testCase)));
}

/**
 * Reads the baseline without the cases that `--filter` leaves out, which must not count as gone.
 */
async function readFilteredBaseline(
  ctx: Context,
  { baselinePath, filter, repeating }: TestOptions,
): Promise<Baseline | undefined> {
  if (baselinePath === undefined) return undefined;
  const { cases } = await readBaseline(ctx, baselinePath, repeating);
  return { cases: cases.filter(testCase => matchesFilter(filter, testCase)) };
}

/** Notes each required rate that `--sure` can't prove, even if every run passes. */
function noteUnprovableRates(
  ctx: Context,
  { repeating: { maxRepeat } }: TestOptions,
  entries: readonly PreparedEntry[],
): void {
  const rates = new Set<number>();
  for (const { entry } of entries) {
    const { passRule, runsUntilDecided } = entry.testCase;
    if (runsUntilDecided && passRule.kind === 'rate') rates.add(passRule.rate);
  }

  const reachableRate = Math.floor(computeHighestProvableRate(maxRepeat) * 1000) / 1000;
  const reachText = `${maxRepeat} good answers reach ${formatPercent(reachableRate)}`;
  for (const rate of rates) {
    const neededCount = countGoodRunsNeeded(rate);
    if (neededCount <= maxRepeat) continue;

    const needText = Number.isFinite(neededCount)
      ? `it needs ${neededCount}`
      : 'it can only fail or stay undecided';
    ctx.io.note(`note: a rate of ${formatPercent(rate)} can't be shown: ${reachText}; ${needText}`);
  }
}
