import type { ConvertedCase } from '../../../prompts/foreign/converted.ts';
import type { Context } from '../../context.ts';
import { CaseFault } from '../../core/errors.ts';
import { sharedPath } from '../../core/paths.ts';
import { readTextFile } from '../../inputs/read-text.ts';
import { allExpectations } from '../expectations/expectation.ts';
import { isPromptfooFile, isTestFile } from './find-test-files.ts';
import { parseTestFile, readTestFileNode, type TestFileContent } from './parse-test-file.ts';
import type { ConvertedTests } from './promptfoo/read-promptfoo.ts';
import { readForeignTests } from './read-foreign-tests.ts';
import type { TestFileOptions } from './reading-context.ts';
import { MAX_TEST_FILE_BYTES, type TestCase, type TestedModel, type TestFile } from './test-case.ts';

/**
 * Reads a test file and every file that it names. Sends nothing.
 *
 * @throws {CliError} USAGE_ERROR with file and line if it is invalid
 */
export async function readTestFile(
  ctx: Context,
  file: string,
  options: TestFileOptions,
): Promise<TestFile[]> {
  if (isPromptfooFile(file)) return await readPromptfooTests(ctx, file, options);
  if (!isTestFile(file)) return [await readForeignTests(ctx, file)];
  const name = sharedPath(ctx.cwd, file);
  const source = await readTextFile(file, ctx.cwd, 'test', MAX_TEST_FILE_BYTES);
  const { judge: _, ...rest } = options;
  return [{ file, name, ...(await parseTestFile(ctx, source, { file, name, options: rest })) }];
}

/** Reads the tests of a promptfoo configuration, for each of its prompts. */
async function readPromptfooTests(ctx: Context, file: string, options: TestFileOptions): Promise<TestFile[]> {
  const { readPromptfoo } = await import('./promptfoo/read-promptfoo.ts');
  const name = sharedPath(ctx.cwd, file);
  const { prompts, judge, leftOut, maxConcurrency } = await readPromptfoo(ctx, { ...options, file, name });
  const isOne = new Set(prompts.map(({ number }) => number)).size === 1;
  const source = {
    file,
    name,
    options: { ...options, judge, judgeRank: 'first' as const, isAsPromptfoo: true },
    target: file,
  };
  const { nodeOfTests } = await import('./promptfoo/node-of-tests.ts');
  const contentByTests = new Map<string, TestFileContent>();
  const files: TestFile[] = [];
  for (const convertedPrompt of prompts) {
    const { prompt } = convertedPrompt;
    const tests = JSON.stringify(convertedPrompt.test);
    const content =
      contentByTests.get(tests) ?? (await readTestFileNode(ctx, nodeOfTests(convertedPrompt), source));
    contentByTests.set(tests, content);
    const cases = casesOfPrompt(convertedPrompt, content.cases, { isOne, file: name });
    for (const part of options.hasModels ? [{ ...content, cases }] : byModels(content.models, cases)) {
      const leftOutField = files.length === 0 ? { leftOut } : {};
      files.push({
        file,
        name,
        ...content,
        ...part,
        prompt,
        isAsPromptfoo: true,
        maxConcurrency,
        ...leftOutField,
      });
    }
  }
  noteDefaultJudge(ctx, files, options.judge);
  return files;
}

/** Groups cases that run with the same models, in order. */
function byModels(models: readonly TestedModel[], cases: readonly CaseOfModels[]): CasesOfModels[] {
  const groups: (CasesOfModels & { readonly key: string; readonly cases: TestCase[] })[] = [];
  for (const { models: indices, ...testCase } of cases) {
    const key = String(indices);
    const last = groups.at(-1);
    if (last?.key === key) last.cases.push(testCase);
    else
      groups.push({
        key,
        models: indices?.flatMap(index => models[index] ?? []) ?? models,
        cases: [testCase],
      });
  }
  return groups;
}

type CasesOfModels = Pick<TestFile, 'models' | 'cases'>;
type CaseOfModels = TestCase & Pick<ConvertedCase, 'models'>;

/** Returns the cases of a prompt at their places in the configuration: the user never sees the converted text. */
function casesOfPrompt(
  { cases: places, only, model, number, template, fault: unsendable }: ConvertedTests,
  cases: readonly TestCase[],
  { isOne, file }: { readonly isOne: boolean; readonly file: string },
): CaseOfModels[] {
  const placedCases = cases.map((testCase, index) => {
    const { line = 1, leftOut = 0, models: ownModels, turn, vars = {} } = places[index] ?? {};
    const models = model === undefined ? ownModels : [model];
    const expect = testCase.expect.map(expectation => ({ ...expectation, line }));
    const name = isOne ? testCase.name : `${testCase.name} (prompt ${number})`;
    const fault = unsendable === undefined ? testCase.fault : new CaseFault(`${file}:${line}: ${unsendable}`);
    const placedCase = {
      ...testCase,
      ...(fault && { fault }),
      line,
      leftOut,
      expect,
      name,
      ...(models && { models }),
    };
    return turn && template
      ? { ...placedCase, turn: { ...turn, index, template, vars, prompt: number } }
      : placedCase;
  });
  return placedCases.filter((_, index) => only?.has(index) !== false);
}

/** Reports the default judge if an expectation uses it. */
function noteDefaultJudge(ctx: Context, files: readonly TestFile[], judge: string | undefined): void {
  if (judge !== undefined || ctx.settings.get('judge') !== undefined) return;
  const expectations = allExpectations(files.flatMap(({ cases }) => cases).flatMap(({ expect }) => expect));
  const defaultJudged = [...expectations].find(({ rank }) => rank === 'last');
  if (defaultJudged)
    ctx.io.noteOnce(`note: judged by ${defaultJudged.model}, promptfoo's default for the key that is set`);
}
