import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '../context.ts';
import { usageError } from '../core/errors.ts';
import { toFileFault } from '../inputs/read-text.ts';
import { readTestFile } from '../testing/cases/read-test-file.ts';
import type { TestCase, TestFile } from '../testing/cases/test-case.ts';
import { type Expectation, flattenExpectations } from '../testing/expectations/expectation.ts';
import type { Judge } from '../testing/judging/judge.ts';
import { checkProgramsAndJudges, needsJudge } from '../testing/read-test-files.ts';
import { type CheckedRow, computeCaseDigest, computeInputsDigest } from './checked-rows.ts';
import type { Variant } from './create-variants.ts';

/** The cases of a test file by the rows that they judge. */
export interface ExpectedCases {
  readonly file: TestFile;
  readonly byRow: ReadonlyMap<number, TestCase>;
  /** The ids of rows without a case. */
  readonly unjudgedIds: readonly string[];
}

/** Maximum number of rows without a case that are named. */
const MAX_UNJUDGED_IDS = 5;

interface ExpectedCasesOptions {
  readonly variants: readonly Variant[];
  readonly judge: Judge;
  readonly allowCommands: boolean;
}

/**
 * Finds the case of each row: the one with equal inputs, or else the one whose name is the row's
 * id.
 *
 * @throws {CliError} USAGE_ERROR if the file can't be read, or no row has a case
 */
export async function readExpectedCases(
  ctx: Context,
  fileName: string,
  rows: readonly CheckedRow[],
  { variants, judge, allowCommands }: ExpectedCasesOptions,
): Promise<ExpectedCases> {
  const [file] = await readTestFile(ctx, await resolveExpectedFile(ctx, fileName), {
    allowOutside: ctx.globals.allowOutside,
    mayTarget: () => true,
    hasModels: true,
    allowCommands,
    skipUnsupported: false,
  });
  if (file === undefined) throw usageError(`--expect: ${fileName} has no tests`);

  await checkProgramsAndJudges(file, judge, { allowCommands });
  const [fault] = file.cases.flatMap(testCase => testCase.fault ?? []);
  if (fault !== undefined) throw fault;

  const caseIndex = await indexCases(ctx, file, variants[0]);
  const byRow = new Map<number, TestCase>();
  for (const row of rows) {
    const testCase = findCase(caseIndex, row);
    if (testCase) byRow.set(row.row, testCase);
  }

  if (byRow.size === 0) {
    throw usageError(
      `--expect: no row has a case in ${fileName}`,
      "A row is judged by the case with equal inputs, or by the case whose name is the row's id.",
    );
  }

  const unjudgedRows = rows.filter(({ row }) => !byRow.has(row));
  return { file, byRow, unjudgedIds: unjudgedRows.map(({ id }) => id) };
}

/** Resolves the path of `--expect`. @throws {CliError} if it is not a file */
async function resolveExpectedFile({ cwd }: Context, fileName: string): Promise<string> {
  const filePath = path.resolve(cwd, fileName);
  const stats = await stat(filePath).catch((error: unknown) => {
    throw toFileFault(error, fileName, '--expect');
  });
  if (stats.isDirectory()) throw usageError(`--expect: ${fileName} is a directory`);
  return filePath;
}

/** The cases of a file by digest of inputs and by name. If several are equal, the first counts. */
interface CaseIndex {
  readonly byInputs: ReadonlyMap<string, TestCase>;
  readonly byName: ReadonlyMap<string, TestCase>;
}

/** @param variant the variant whose inputs decide which rows and cases are equal */
async function indexCases(
  ctx: Context,
  { cases }: TestFile,
  variant: Variant | undefined,
): Promise<CaseIndex> {
  const byInputs = new Map<string, TestCase>();
  const byName = new Map<string, TestCase>();
  for (const testCase of cases) {
    if (!byName.has(testCase.name)) byName.set(testCase.name, testCase);

    // A case with other inputs than the variant's can still judge the row of its name.
    const digest =
      variant && (await computeCaseDigest(ctx, variant, testCase).catch(() => undefined));
    if (digest !== undefined && !byInputs.has(digest)) byInputs.set(digest, testCase);
  }
  return { byInputs, byName };
}

function findCase({ byInputs, byName }: CaseIndex, row: CheckedRow): TestCase | undefined {
  return byInputs.get(computeInputsDigest(row) ?? '') ?? byName.get(row.id);
}

export function listJudgedExpectations({ byRow }: ExpectedCases): Expectation[] {
  return [
    ...flattenExpectations([...byRow.values()].flatMap(({ expectations }) => expectations)),
  ].filter(needsJudge);
}

/** Returns a line that names the rows without a case; no line if there are none. */
export function formatUnjudgedRows({ unjudgedIds }: ExpectedCases): string[] {
  if (unjudgedIds.length === 0) return [];
  const namedIds = unjudgedIds.slice(0, MAX_UNJUDGED_IDS).join(', ');
  const unnamedCount = unjudgedIds.length - MAX_UNJUDGED_IDS;
  const list = unnamedCount > 0 ? `${namedIds} and ${unnamedCount} more` : namedIds;
  return [`without a case, so not counted: ${list}`];
}
