import { EXIT } from '../core/exit-codes.ts';
import type { Failure } from '../core/failure.ts';
import { sumSeconds } from '../jobs/job.ts';
import type { RequestResult } from '../jobs/run-requests.ts';
import { isDecided } from '../statistics/confidence-sequence.ts';
import type { CaseRuns } from '../statistics/rates.ts';
import { ALL_RUNS, meetsPassRule } from './cases/pass-rule.ts';
import type { TestCase, TestedModel, TestFile } from './cases/test-case.ts';
import type { UnmetExpectation } from './expectations/expectation.ts';

/** A case with one model: one entry in every report, with all its repetitions. */
export interface TestEntry {
  readonly file: TestFile;
  readonly testCase: TestCase;
  /** undefined for the prompt's own model. */
  readonly model: string | undefined;
  /** The model with its own config and transform; undefined for the entry of a faulty file. */
  readonly testedModel?: TestedModel;
}

/** Returns the name of an entry's model for reports; undefined for the prompt's own. */
export function formatModelLabel({
  model,
  testedModel,
}: Pick<TestEntry, 'model' | 'testedModel'>): string | undefined {
  return testedModel?.number === undefined ? model : `${model} (${testedModel.number})`;
}

/** The result of a repetition; a fault may also come from its judge. */
export interface Repetition extends RequestResult {
  /** The expectations that were not met; a failed run counts as one. */
  readonly mismatches: readonly UnmetExpectation[];
  /** True if its run failed at the token limit, and the text that came was checked anyway. */
  readonly isTruncated?: true;
  /** True if its run had ended before the test was resumed. */
  readonly isEarlier?: boolean;
}

/** A test file that can't be run, with its fault. */
export interface FaultyTestFile {
  /** The absolute path. */
  readonly path: string;
  /** The name in reports. */
  readonly name: string;
  readonly fault: Failure;
}

/** Returns the result of a file that could not be run, as one entry. */
export function toFaultyFileResult({ path, name, fault }: FaultyTestFile): EntryResult {
  const [, line = '1'] = /:(\d+): /u.exec(fault.message) ?? [];
  const testCase: TestCase = {
    name: 'the whole file',
    line: Number(line),
    text: new Map(),
    images: [],
    options: new Map(),
    expectations: [],
    repeat: 1,
    passRule: ALL_RUNS,
  };

  const entry = {
    file: { path, name, target: '', models: [], cases: [testCase] },
    testCase,
    model: undefined,
  };
  return computeEntryResult(entry, [{ run: undefined, seconds: 0, mismatches: [], fault }]);
}

/**
 * The status of an entry. `fault` if a repetition could not be run, which outranks mismatches.
 * `undecided` if the answers do not show on which side of the required rate the case is.
 * `unchecked` if all of its checks are left out, so that it is not run.
 */
export type EntryStatus = 'passed' | 'failed' | 'undecided' | 'unchecked' | 'fault';

export interface EntryResult {
  readonly entry: TestEntry;
  readonly status: EntryStatus;
  /** The repetitions that count: answers after the decision don't. */
  readonly repetitions: readonly Repetition[];
  /** The numbers of runs and passes; undefined if the case could not be run. */
  readonly caseRuns: CaseRuns | undefined;
  /** The sum of the known times of all repetitions. */
  readonly seconds: number;
}

/**
 * Computes the result of an entry. Each case has its own threshold; nothing is averaged over cases.
 */
export function computeEntryResult(
  entry: TestEntry,
  allRepetitions: readonly Repetition[],
): EntryResult {
  const seconds = sumSeconds(allRepetitions.map(repetition => repetition.seconds));
  const { passRule, runsUntilDecided } = entry.testCase;
  const decidingCount =
    runsUntilDecided && passRule.kind === 'rate'
      ? findDecidingCount(passRule.rate, allRepetitions)
      : undefined;
  const repetitions = allRepetitions.slice(0, decidingCount);
  const couldBeRun =
    repetitions.length > 0 && repetitions.every(({ fault }) => fault === undefined);
  if (!couldBeRun) return { entry, status: 'fault', repetitions, caseRuns: undefined, seconds };

  const runCount = repetitions.length;
  const passedCount = repetitions.filter(hasPassed).length;
  const caseRuns: CaseRuns = {
    passed: passedCount,
    runs: runCount,
    ...(runsUntilDecided && { isSequential: true as const }),
  };
  if (runsUntilDecided && decidingCount === undefined) {
    return { entry, status: 'undecided', repetitions, caseRuns, seconds };
  }

  const status = meetsPassRule(passRule, passedCount, runCount) ? 'passed' : 'failed';
  return { entry, status, repetitions, caseRuns, seconds };
}

/**
 * Returns the number of answers, in order, that decide if a required rate is met. A fault decides
 * too. Returns undefined if they don't decide, or the next one is missing.
 */
export function findDecidingCount(
  requiredRate: number,
  repetitions: readonly (Repetition | undefined)[],
): number | undefined {
  let passedCount = 0;
  for (const [index, repetition] of repetitions.entries()) {
    if (repetition === undefined) return undefined;
    // A case that can't be run has no rate, so more answers would only cost money.
    if (repetition.fault !== undefined) return index + 1;
    if (hasPassed(repetition)) passedCount += 1;
    if (isDecided(requiredRate, passedCount, index + 1)) return index + 1;
  }
  return undefined;
}

/** Returns true if the run of a repetition succeeded and met every expectation. */
export function hasPassed({ mismatches, fault }: Repetition): boolean {
  return fault === undefined && mismatches.length === 0;
}

/** Returns true if all checks of a case are left out. */
export function isUnchecked({ leftOutCheckCount = 0, expectations }: TestCase): boolean {
  return leftOutCheckCount > 0 && expectations.length === 0;
}

/** Returns the result of a case whose checks are all left out. */
export function toUncheckedResult(entry: TestEntry): EntryResult {
  return { entry, status: 'unchecked', repetitions: [], caseRuns: undefined, seconds: 0 };
}

/**
 * Returns the name of an entry in its file: the case's name, with the model if the file names one.
 */
export function formatEntryName(entry: TestEntry): string {
  const model = formatModelLabel(entry);
  return model === undefined ? entry.testCase.name : `${entry.testCase.name} [${model}]`;
}

/** Counts the results of each status. */
export function countStatuses(results: readonly EntryResult[]) {
  const count = (status: EntryStatus): number =>
    results.filter(result => result.status === status).length;
  return {
    passed: count('passed'),
    failed: count('failed'),
    undecided: count('undecided'),
    unchecked: count('unchecked'),
    faults: count('fault'),
  };
}

/**
 * Returns the totals as text, such as `2 passed, 1 failed` or, after `--resume`,
 * `2 passed now, 3 before, 1 failed`.
 */
export function formatTotals(results: readonly EntryResult[]): string {
  const cappedCount = results.filter(isCapped).length;
  const { undecided, unchecked, faults } = countStatuses(results);
  const otherFaultCount = faults - cappedCount;

  return [
    formatStatusCount(results, 'passed'),
    formatStatusCount(results, 'failed'),
    ...(undecided > 0 ? [`${undecided} undecided`] : []),
    ...(unchecked > 0 ? [`${unchecked} unchecked`] : []),
    ...(otherFaultCount > 0 ? [`${otherFaultCount} could not be run`] : []),
    ...(cappedCount > 0 ? [`${cappedCount} not done`] : []),
  ].join(', ');
}

function formatStatusCount(results: readonly EntryResult[], status: EntryStatus): string {
  const resultsWithStatus = results.filter(result => result.status === status);
  const earlierCount = resultsWithStatus.filter(({ repetitions }) =>
    repetitions.every(({ isEarlier }) => isEarlier),
  ).length;
  if (earlierCount === 0) return `${resultsWithStatus.length} ${status}`;
  return `${resultsWithStatus.length - earlierCount} ${status} now, ${earlierCount} before`;
}

/** Returns true if a repetition was not run because of a cap. */
export function isCapped({ repetitions }: EntryResult): boolean {
  return repetitions.some(({ fault }) => fault?.exitCode === EXIT.capReached);
}
