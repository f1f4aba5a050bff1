import type { Connection, Context } from '../context.ts';
import { pluralize } from '../core/pluralize.ts';
import type { Budget } from '../creation/budget.ts';
import { createPacedConnector } from '../jobs/paced-connection.ts';
import { computeHighestReachable, countGoodRunsNeeded } from '../statistics/confidence-sequence.ts';
import { formatPercent } from '../statistics/interval.ts';
import { toOneLine } from '../terminal/sanitise.ts';
import { type Baseline, readBaseline } from './baseline/read-baseline.ts';
import { findTestFiles } from './cases/find-test-files.ts';
import { type TestCase, type TestFile, withChosenCases } from './cases/test-case.ts';
import { checkUpdatable } from './cases/update-test-file.ts';
import { type FaultyTestFile, isUnchecked } from './entry-result.ts';
import { type Expectation, flattenExpectations } from './expectations/expectation.ts';
import { findJudgeFaults, hasWords, needsJudge, readFiles } from './read-files.ts';
import { reportTestFault } from './report-end.ts';
import {
  addEarlierTurns,
  noteEarlierTurns,
  withEarlierTurns,
  withoutUncheckedTurns,
} from './run/earlier-turns.ts';
import { Judge } from './run/judge.ts';
import { loadLastFailures } from './run/last-verdicts.ts';
import { checkBatches, type PreparedEntry, prepareEntries } from './run/prepare-entries.ts';
import { groupByService } from './run/run-by-service.ts';
import type { TestOptions } from './test-options.ts';

/** One of several rounds, each of which runs some cases. */
export interface TestRound {
  readonly isChosen: (file: TestFile, testCase: TestCase) => boolean;
  /** Called once it is certain that no run of the round costs anything. */
  readonly onFree: () => void;
}

/** The cases of a round, ready to run, and what was found out about them. */
interface PreparedRound {
  readonly files: readonly TestFile[];
  readonly paths: readonly string[];
  readonly entries: readonly PreparedEntry[];
  /** The number of cases that `--failed` leaves out because they passed. */
  readonly passedCount: number;
  readonly faults: readonly FaultyTestFile[];
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
  round: TestRound | undefined,
): Promise<PreparedRound> {
  const warn = (line: string): void => ctx.io.error(`warning: ${toOneLine(line)}`);
  const foundTests = await findTestFiles(ctx, options.paths, warn);
  const paths = foundTests.files;
  if (options.update) for (const file of paths) checkUpdatable(ctx, file);
  const baseline = await readFilteredBaseline(ctx, options);
  const judge = new Judge(ctx, options.judge, budget);
  const { files, faults: fileFaults } = await readFiles(ctx, foundTests, judge, options);
  if (round !== undefined) await ctx.renewModels();
  const isJudged = filterJudged(files.flatMap(file => file.cases)).length > 0;
  const prepared = await prepareEntries(
    ctx,
    createCappedConnector(ctx, options, budget, { isJudged }),
    addEarlierTurns(ctx, pickRoundFiles(files, round)),
  );
  const chosen = await chooseEntries(ctx, options, withoutUncheckedTurns(prepared.entries), judge);
  const faults = [...fileFaults, ...prepared.faults, ...chosen.faults];

  // A fault of the machine, such as a read-only data directory, is that of every file.
  for (const fault of withoutRepeats(faults)) reportTestFault(ctx, fault);
  noteUnreachable(ctx, chosen.entries);

  const judgedExpectations = filterJudged(chosen.entries.map(({ entry }) => entry.testCase));
  if (options.providerBatch) {
    await checkBatches(chosen.entries);
    for (const expectation of judgedExpectations) await judge.checkBatch(expectation);
  }

  const hasJudge = ({ entry }: PreparedEntry): boolean =>
    !chosen.faults.some(({ file }) => file === entry.file.file);
  const entries = chosen.entries.filter(hasJudge);
  const { passedCount } = chosen;

  return {
    files,
    paths,
    entries,
    passedCount,
    faults,
    judge,
    judgedExpectations,
    isJudged,
    baseline,
  };
}

/**
 * Returns the entries that `--failed` chooses, with the faults of files whose judges they lack;
 * otherwise all.
 */
async function chooseEntries(
  ctx: Context,
  { failed }: TestOptions,
  entries: readonly PreparedEntry[],
  judge: Judge,
): Promise<{
  readonly entries: readonly PreparedEntry[];
  readonly passedCount: number;
  readonly faults: readonly FaultyTestFile[];
}> {
  if (!failed) return { entries, passedCount: 0, faults: [] };
  const { entries: failedOnes, passedCount } = await pickFailedEntries(ctx, entries);
  // Only the chosen cases of a file need their judges.
  return {
    entries: failedOnes,
    passedCount,
    faults: await findJudgeFaults(ctx, groupByFile(failedOnes), judge),
  };
}

/** Returns the faults of files, equal ones once. */
function withoutRepeats(faults: readonly FaultyTestFile[]): FaultyTestFile['fault'][] {
  return [
    ...new Map(faults.map(({ fault }) => [`${fault.status} ${fault.message}`, fault])).values(),
  ];
}

/** Returns the expectations that ask a judge. */
function filterJudged(cases: readonly TestCase[]): Expectation[] {
  return [...new Set(flattenExpectations(cases.flatMap(({ expect }) => expect)))].filter(
    needsJudge,
  );
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
  const paced = createPacedConnector(ctx, rate);
  return async target => {
    const connection = await paced(target);
    // Judging has a known cost even if another service runs the prompts.
    if (!isJudged) budget.checkCostCap(connection);
    return connection;
  };
}

/** Returns the files with the cases that the round chooses. */
function pickRoundFiles(
  files: readonly TestFile[],
  round: TestRound | undefined,
): readonly TestFile[] {
  if (round === undefined) return files;
  return files.map(file => withChosenCases(file, testCase => round.isChosen(file, testCase)));
}

/**
 * Reads the baseline without the cases that `--filter` leaves out, which must not count as gone.
 */
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
  for (const [rate, maxRuns] of new Map(rates)) {
    const needed = countGoodRunsNeeded(rate);
    if (needed <= maxRuns) continue;

    const reachableRate = Math.floor(computeHighestReachable(maxRuns) * 1000) / 1000;
    const reach = `${maxRuns} good answers reach ${formatPercent(reachableRate)}`;
    const more = Number.isFinite(needed)
      ? `it needs ${needed}`
      : 'it can only fail or stay undecided';
    ctx.io.note(`note: a rate of ${formatPercent(rate)} can't be shown: ${reach}; ${more}`);
  }
}

/**
 * Returns the entries that failed when they were last run, and those before them whose answers they
 * take, with the number of entries that passed.
 */
async function pickFailedEntries(ctx: Context, entries: readonly PreparedEntry[]) {
  const hasFailed = await loadLastFailures(ctx);
  const chosenEntries = new Set<PreparedEntry>(
    entries.filter(({ entry }) => isUnchecked(entry.testCase)),
  );

  const checkedEntries = entries.filter(prepared => !chosenEntries.has(prepared));
  for (const [, entriesOfService] of groupByService(checkedEntries)) {
    const testEntries = entriesOfService.map(({ entry }) => entry);
    const failures = entriesOfService.filter(prepared => hasFailed(prepared) === true);
    const neededEntries = withEarlierTurns(
      testEntries,
      failures.map(({ entry }) => entry),
    );
    noteEarlierTurns(ctx, neededEntries.size - failures.length);

    for (const prepared of entriesOfService) {
      if (neededEntries.has(prepared.entry)) chosenEntries.add(prepared);
    }
  }

  if (chosenEntries.size === 0 && !ctx.isReplay) {
    const replayedFailures = entries.filter(
      prepared => hasFailed(prepared, { isReplay: true }) === true,
    );
    noteReplayedFailures(ctx, replayedFailures);
  }

  const passedCount = entries.filter(prepared => hasFailed(prepared) === false).length;
  return { entries: entries.filter(prepared => chosenEntries.has(prepared)), passedCount };
}

function noteReplayedFailures({ io }: Context, { length }: readonly PreparedEntry[]): void {
  if (length === 0) return;
  io.note(
    `note: ${pluralize(length, 'case')} failed with --replay, which is remembered apart: to run only those, add --replay <dir>`,
  );
}

/** Returns the files of entries, with the cases of these entries alone. */
function groupByFile(entries: readonly PreparedEntry[]): TestFile[] {
  const cases = new Set(entries.map(({ entry }) => entry.testCase));
  const files = new Set(entries.map(({ entry }) => entry.file));
  return [...files].map(file => withChosenCases(file, testCase => cases.has(testCase)));
}
