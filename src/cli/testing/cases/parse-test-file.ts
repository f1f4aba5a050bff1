import path from 'node:path';
import { FileFault } from '../../../files/formats/file-fault.ts';
import {
  toYamlValue,
  type YamlEntries,
  type YamlEntry,
  type YamlValue,
} from '../../../files/formats/yaml.ts';
import type { YamlNode } from '../../../files/formats/yaml-node.ts';
import { NamedFileCount } from '../../../files/named-file.ts';
import { formatNumber } from '../../../utils/format-number.ts';
import type { Context } from '../../context.ts';
import type { ExpectationsContext } from '../expectations/read-expectations.ts';
import { ALL_RUNS } from './pass-rule.ts';
import { readCase } from './read-case.ts';
import { readTarget } from './read-target.ts';
import { readTestedModels } from './read-tested-models.ts';
import type { ReadingContext, TestFileOptions } from './reading-context.ts';
import { runFileTask } from './run-file-task.ts';
import { chooseJudge, readPass, readTransform } from './shared-fields.ts';
import type { TestCase, TestFile } from './test-case.ts';
import { readMapFields, testFileError } from './test-values.ts';

const FILE_KEYS = ['target', 'model', 'models', 'trim', 'transform', 'judge', 'pass', 'cases'];
const MAX_CASES = 100_000;

interface TestFileSource {
  readonly path: string;
  readonly name: string;
  readonly options: TestFileOptions &
    Pick<ExpectationsContext, 'judge' | 'judgeRank' | 'isAsPromptfoo'>;
  /** The target to use instead of the one in the text. */
  readonly target?: string;
}

export type TestFileContent = Pick<TestFile, 'cases' | 'target' | 'models'>;

/**
 * Parses the text of a test file.
 *
 * @throws {CliError} USAGE_ERROR with file and line if it is invalid
 */
export async function parseTestFile(
  ctx: Context,
  text: string,
  source: TestFileSource,
): Promise<TestFileContent> {
  const root = await runFileTask(ctx, 'readYaml', { text, file: source.name }).catch(
    (error: unknown) => {
      throw toTestFileError(error);
    },
  );
  return await readTestFileNode(ctx, root, source);
}

/**
 * Reads the content of a parsed test file.
 *
 * @throws {CliError} USAGE_ERROR with file and line if it is invalid
 */
export async function readTestFileNode(
  ctx: Context,
  root: YamlNode | null,
  { path: filePath, name, options, target }: TestFileSource,
): Promise<TestFileContent> {
  const folderContext = {
    ...ctx,
    ...options,
    cwd: path.dirname(filePath),
    namedFiles: new NamedFileCount(),
    inputFileTexts: new Map(),
  };
  return await readContent(folderContext, toYamlValue(root, 1, name), filePath, target).catch(
    (error: unknown) => {
      throw toTestFileError(error);
    },
  );
}

function toTestFileError(error: unknown): unknown {
  return error instanceof FileFault ? testFileError(error, error.problem) : error;
}

async function readContent(
  ctx: ReadingContext,
  root: YamlValue,
  filePath: string,
  target?: string,
): Promise<TestFileContent> {
  const fields = readMapFields(root, 'a test file', FILE_KEYS);
  const casesEntry = fields.get('cases');
  if (casesEntry === undefined) throw testFileError(root, 'cases is missing');

  const fileDefaults = {
    trims: readTrim(fields),
    ...(readPass(fields) ?? { passRule: ALL_RUNS }),
    ...(await readTransform(ctx, fields)),
  };

  const fileContext = { ...ctx, judge: chooseJudge(fields, ctx) };
  const buildSourceText = ctx.watch ? createSourceTextBuilder(fields) : () => ({});
  const cases: TestCase[] = [];
  for (const [index, value] of readCaseItems(casesEntry).entries()) {
    cases.push({
      ...fileDefaults,
      ...(await readCase(fileContext, value, index + 1)),
      ...buildSourceText(value),
    });
  }

  return {
    cases,
    target: target ?? readTarget(ctx, root, fields, filePath),
    models: await readTestedModels(ctx, fields),
  };
}

/** Returns the cases of a file, at least one. */
function readCaseItems(casesEntry: YamlEntry): YamlValue[] {
  const items = casesEntry.value.readItems('cases');
  if (items.length === 0) throw testFileError(casesEntry, 'cases is empty');
  if (items.length <= MAX_CASES) return items;
  throw testFileError(casesEntry, `there are more than ${formatNumber(MAX_CASES)} cases`);
}

/**
 * Returns a function that builds a text of the values of a case and of the fields that all cases
 * share, so that a watch finds the cases that change.
 */
function createSourceTextBuilder(
  fields: YamlEntries,
): (value: YamlValue) => Pick<TestCase, 'sourceText'> {
  const otherFields = [...fields].filter(([key]) => key !== 'cases');
  const sharedFields = otherFields.map(([key, { value }]) => [key, value.toJson()]);
  return value => ({ sourceText: JSON.stringify([sharedFields, value.toJson()]) });
}

function readTrim(fields: YamlEntries): boolean {
  const trim = fields.get('trim');
  if (trim === undefined) return false;
  const value = trim.value.toJson();
  if (typeof value === 'boolean') return value;
  throw testFileError(trim, 'trim must be true or false');
}
