import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '../context.ts';
import { usageError } from '../core/errors.ts';
import { toFileFault } from '../inputs/read-text.ts';
import { readTestFile } from '../testing/cases/read-test-file.ts';
import type { TestCase, TestFile } from '../testing/cases/test-case.ts';
import { type Expectation, flattenExpectations } from '../testing/expectations/expectation.ts';
import { needsJudge, refuseUncheckable } from '../testing/read-files.ts';
import type { Judge } from '../testing/run/judge.ts';
import { type CheckedRow, computeCaseDigest, computeInputsDigest } from './checked-rows.ts';
import type { Variant } from './create-variants.ts';

/** The cases of a test file by the rows that they judge. */
export interface ExpectedCases {
  readonly file: TestFile;
  readonly byRow: ReadonlyMap<number, TestCase>;
  /** The ids of rows without a case. */
  readonly unjudged: readonly string[];
}

/**
 * Finds the case of each row: the one with equal inputs, or else the one whose name is the row's
 * id.
 *
 * @throws {CliError} USAGE_ERROR if the file can't be read, or no row has a case
 */
export async function readExpectedCases(
  ctx: Context,
  name: string,
  rows: readonly CheckedRow[],
  {
    variants,
    judge,
    allowCommands,
  }: { variants: readonly Variant[]; judge: Judge; allowCommands: boolean },
): Promise<ExpectedCases> {
  const { allowOutside } = ctx.globals;
  const flags = { allowCommands, skipUnsupported: false };
  const options = { allowOutside, mayTarget: () => true, hasModels: true, ...flags };
  const [file] = await readTestFile(ctx, await requireFile(ctx, name), options);
  if (file === undefined) throw usageError(`--expect: ${name} has no tests`);

  await refuseUncheckable(file, judge, flags);
  const findCase = await createCaseFinder(ctx, file, variants[0]);
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

  const unjudgedRows = rows.filter(({ row }) => !byRow.has(row));
  return { file, byRow, unjudged: unjudgedRows.map(({ id }) => id) };
}

async function requireFile({ cwd }: Context, name: string): Promise<string> {
  const file = path.resolve(cwd, name);
  const stats = await stat(file).catch((error: unknown) => {
    throw toFileFault(error, name, '--expect');
  });
  if (stats.isDirectory()) throw usageError(`--expect: ${name} is a directory`);
  return file;
}

/**
 * Returns a function that finds the case of a row. Of several with the same inputs or name, it
 * takes the first.
 *
 * @param variant the variant whose inputs decide which rows are equal
 */
async function createCaseFinder(
  ctx: Context,
  { cases }: TestFile,
  variant: Variant | undefined,
): Promise<(row: CheckedRow) => TestCase | undefined> {
  const byInputs = new Map<string, TestCase>();
  const byName = new Map<string, TestCase>();
  for (const testCase of cases) {
    if (testCase.fault) throw testCase.fault;
    const digest =
      variant && (await computeCaseDigest(ctx, variant, testCase).catch(() => undefined));
    if (digest !== undefined && !byInputs.has(digest)) byInputs.set(digest, testCase);
    if (!byName.has(testCase.name)) byName.set(testCase.name, testCase);
  }

  return row => byInputs.get(computeInputsDigest(row) ?? '') ?? byName.get(row.id);
}

export function listJudgedExpectations({ byRow }: ExpectedCases): Expectation[] {
  return [...flattenExpectations([...byRow.values()].flatMap(({ expect }) => expect))].filter(
    needsJudge,
  );
}

/** Returns a line about the rows without a case, if there are any. */
export function formatUnjudgedRows({ unjudged }: ExpectedCases): string[] {
  if (unjudged.length === 0) return [];
  const shown = unjudged.slice(0, MAX_IDS).join(', ');
  const more = unjudged.length - MAX_IDS;
  return [`without a case, so not counted: ${more > 0 ? `${shown} and ${more} more` : shown}`];
}

const MAX_IDS = 5;
