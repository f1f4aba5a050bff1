import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '../context.ts';
import { usageError } from '../core/errors.ts';
import type { Failure } from '../core/failure.ts';
import type { Budget } from '../creation/budget.ts';
import { fileFault } from '../inputs/read-text.ts';
import type { ResumableRequests } from '../jobs/resumable-requests.ts';
import { compareRates, type RateComparison, verdictText } from '../statistics/compare-rates.ts';
import type { CasePair } from '../statistics/paired.ts';
import { readTestFile } from '../testing/cases/read-test-file.ts';
import type { TestCase, TestFile } from '../testing/cases/test-case.ts';
import { allExpectations, type Expectation } from '../testing/expectations/expectation.ts';
import { needsJudge, refuseUncheckable } from '../testing/read-files.ts';
import { checkRun } from '../testing/run/check-run.ts';
import type { Judge, JudgeLog } from '../testing/run/judge.ts';
import { createJournaledRounds, type QuestionRounds } from '../testing/run/question-rounds.ts';
import type { ComparedRow } from './compared-row.ts';
import type { Variant } from './create-variants.ts';
import { type CheckedRow, caseDigest, inputsDigest } from './run-comparison.ts';

/** The cases of a test file by the rows that they judge. */
export interface ExpectedCases {
  readonly file: TestFile;
  readonly byRow: ReadonlyMap<number, TestCase>;
  /** The ids of rows without a case. */
  readonly unjudged: readonly string[];
}

/**
 * Finds the case of each row: the one with equal inputs, or else the one whose name is the row's id.
 *
 * @throws {CliError} USAGE_ERROR if the file can't be read, or no row has a case
 */
export async function readExpectedCases(
  ctx: Context,
  name: string,
  rows: readonly CheckedRow[],
  { variants, judge, allowCommands }: { variants: readonly Variant[]; judge: Judge; allowCommands: boolean },
): Promise<ExpectedCases> {
  const { allowOutside } = ctx.globals;
  const flags = { allowCommands, skipUnsupported: false };
  const options = { allowOutside, mayTarget: () => true, hasModels: true, ...flags };
  const [file] = await readTestFile(ctx, await existingFile(ctx, name), options);
  if (file === undefined) throw usageError(`--expect: ${name} has no tests`);
  await refuseUncheckable(file, judge, flags);
  const findCase = await caseFinder(ctx, file, variants[0]);
  const byRow = new Map<number, TestCase>();
  for (const row of rows) {
    const testCase = findCase(row);
    if (testCase) byRow.set(row.row, testCase);
  }
  if (byRow.size === 0) {
    throw usageError(
      `--expect: no row has a case in ${name}`,
      "A row is judged by the case with equal inputs, or by the case whose name is the row's id.",
    );
  }
  return { file, byRow, unjudged: rows.filter(({ row }) => !byRow.has(row)).map(({ id }) => id) };
}

async function existingFile({ cwd }: Context, name: string): Promise<string> {
  const place = path.resolve(cwd, name);
  const stats = await stat(place).catch((error: unknown) => {
    throw fileFault(error, name, '--expect');
  });
  if (stats.isDirectory()) throw usageError(`--expect: ${name} is a directory`);
  return place;
}

/**
 * Returns a function that finds the case of a row. Of several with the same inputs or name, it takes the first.
 *
 * @param variant the variant whose inputs decide which rows are equal
 */
async function caseFinder(
  ctx: Context,
  { cases }: TestFile,
  variant: Variant | undefined,
): Promise<(row: CheckedRow) => TestCase | undefined> {
  const byInputs = new Map<string, TestCase>();
  const byName = new Map<string, TestCase>();
  for (const testCase of cases) {
    if (testCase.fault) throw testCase.fault;
    const digest = variant && (await caseDigest(ctx, variant, testCase).catch(() => undefined));
    if (digest !== undefined && !byInputs.has(digest)) byInputs.set(digest, testCase);
    if (!byName.has(testCase.name)) byName.set(testCase.name, testCase);
  }
  return row => byInputs.get(inputsDigest(row) ?? '') ?? byName.get(row.id);
}

export function judgedExpectations({ byRow }: ExpectedCases): Expectation[] {
  return [...allExpectations([...byRow.values()].flatMap(({ expect }) => expect))].filter(needsJudge);
}

/** The verdicts of a case on the answers to a row, one for each variant. */
export interface ComparedRowJudgement {
  readonly case: string;
  /** Undefined if there is no answer, or it could not be judged. */
  readonly passes: readonly (boolean | undefined)[];
  /** The messages of failed expectations. */
  readonly messages: readonly (readonly string[])[];
  readonly faults: readonly Failure[];
}

interface JudgingTools {
  readonly variants: readonly Variant[];
  readonly judge: Judge;
  readonly budget: Budget;
  /** The journal of questions to judges; undefined if nobody is asked, or answers come from recordings. */
  readonly kept: ResumableRequests | undefined;
}

/** Judges the answers to each row with a case; returns the verdicts by row number. */
export async function judgeRows(
  ctx: Context,
  rows: readonly (CheckedRow & ComparedRow)[],
  { file, byRow }: ExpectedCases,
  tools: JudgingTools,
): Promise<Map<number, ComparedRowJudgement>> {
  const rounds = tools.kept && createJournaledRounds(tools.kept);
  const judgements = new Map<number, ComparedRowJudgement>();
  const judge = async (row: CheckedRow & ComparedRow): Promise<void> => {
    const testCase = byRow.get(row.row);
    if (!testCase) return;
    judgements.set(row.row, await judgeRow(ctx, row, { file, testCase }, { ...tools, rounds }));
  };
  if (rounds) await Promise.all(rows.map(judge));
  else for (const row of rows) await judge(row);
  ctx.signal.throwIfAborted();
  if (rounds?.fault !== undefined) throw rounds.fault;
  return judgements;
}

async function judgeRow(
  ctx: Context,
  { row, results, requests }: CheckedRow & ComparedRow,
  entry: { readonly file: TestFile; readonly testCase: TestCase },
  { variants, judge, budget, rounds }: JudgingTools & { readonly rounds: QuestionRounds | undefined },
): Promise<ComparedRowJudgement> {
  const judgedVariants = variants.map(async ({ connection, model }, index) => {
    const [result, request] = [results[index], requests[index]];
    if (result?.run === undefined || request === undefined) return undefined;
    const tools = { judge, budget, log: unloggedQuestions(`${row}-${index}`), rounds };
    const check = () => checkRun(ctx, { entry: { ...entry, model }, connection, request }, result, tools);
    return rounds ? rounds.during(check) : check();
  });
  const repetitions = await Promise.all(judgedVariants);
  return {
    case: entry.testCase.name,
    passes: repetitions.map(repetition =>
      repetition === undefined || repetition.fault ? undefined : repetition.mismatches.length === 0,
    ),
    messages: repetitions.map(repetition => (repetition?.mismatches ?? []).map(({ message }) => message)),
    faults: repetitions.flatMap(repetition => repetition?.fault ?? []),
  };
}

/** Returns the log of a comparison that can't be resumed. */
function unloggedQuestions(repetitionId: string): JudgeLog {
  return {
    repetitionId,
    repeatsFailed: false,
    takeEarlier: () => undefined,
    begin: async () => {},
    end: async () => {},
  };
}

/** The verdict on one variant against the first. */
export interface VariantVerdict {
  readonly name: string;
  /** undefined if no row was judged for both variants. */
  readonly rates: RateComparison | undefined;
}

export function variantVerdicts(
  variants: readonly Variant[],
  judgements: ReadonlyMap<number, ComparedRowJudgement>,
): VariantVerdict[] {
  return variants.slice(1).map(({ name }, index) => {
    const pairs = [...judgements.values()].flatMap(({ passes }): CasePair[] => {
      const [before, after] = [passes[0], passes[index + 1]];
      if (before === undefined || after === undefined) return [];
      return [{ before: { passed: Number(before), runs: 1 }, after: { passed: Number(after), runs: 1 } }];
    });
    return { name, rates: compareRates(pairs) };
  });
}

/** Formats the verdict of each later variant in one line. */
export function verdictTexts(
  verdicts: readonly VariantVerdict[],
  reference: string,
): (readonly [name: string, verdict: string])[] {
  return verdicts.map(({ name, rates }) => [
    name,
    rates === undefined ? 'no row could be judged' : verdictText(rates, `with ${reference}`),
  ]);
}

/** Returns a line about the rows without a case, if there are any. */
export function unjudgedText({ unjudged }: ExpectedCases): string[] {
  if (unjudged.length === 0) return [];
  const shown = unjudged.slice(0, MAX_IDS).join(', ');
  const more = unjudged.length - MAX_IDS;
  return [`without a case, so not counted: ${more > 0 ? `${shown} and ${more} more` : shown}`];
}

const MAX_IDS = 5;

/** Returns the fault that kept answers from being judged. */
export function judgingFault(judgements: ReadonlyMap<number, ComparedRowJudgement>): Failure | undefined {
  return [...judgements.values()].flatMap(({ faults }) => faults)[0];
}
