import { isJsonList } from '../../../files/formats/json.ts';
import { toMapNode, toYamlNode, type YamlNode } from '../../../files/formats/yaml-node.ts';
import type { ConvertedCase } from '../../../prompts/foreign/converted-prompt.ts';
import type { Context } from '../../context.ts';
import { CaseFault } from '../../core/errors.ts';
import { toPosixRelativePath } from '../../core/paths.ts';
import { readTestFileNode, type TestFileContent } from '../cases/parse-test-file.ts';
import type { TestFileOptions } from '../cases/reading-context.ts';
import type { TestCase, TestedModel, TestFile } from '../cases/test-case.ts';
import { flattenExpectations } from '../expectations/expectation.ts';
import { type ConvertedTests, convertTestedConfiguration } from './convert-configuration.ts';

/**
 * Reads a promptfoo configuration as test files, one for each of its prompts and each group of
 * models.
 *
 * @throws {CliError} USAGE_ERROR with file and line if it is invalid
 */
export async function readPromptfooTests(
  ctx: Context,
  file: string,
  options: TestFileOptions,
): Promise<TestFile[]> {
  const name = toPosixRelativePath(ctx.cwd, file);
  const converted = await convertTestedConfiguration(ctx, { ...options, file, name });
  const { prompts, judge, leftOutCaseCount, maxConcurrency } = converted;
  const hasOnePrompt = new Set(prompts.map(({ number }) => number)).size === 1;
  const source = {
    file,
    name,
    options: { ...options, judge, judgeRank: 'first' as const, isAsPromptfoo: true },
    target: file,
  };

  // Many prompts have the same tests, which are read once.
  const contentByTests = new Map<string, TestFileContent>();
  const files: TestFile[] = [];
  for (const prompt of prompts) {
    const tests = JSON.stringify(prompt.test);
    const content =
      contentByTests.get(tests) ?? (await readTestFileNode(ctx, toTestsNode(prompt), source));
    contentByTests.set(tests, content);
    const cases = placePromptCases(prompt, content.cases, { hasOnePrompt, file: name });

    const groups = options.hasModels
      ? [{ models: content.models, cases }]
      : groupByModels(content.models, cases);
    for (const group of groups) {
      const testFile = { file, name, ...content, ...group, prompt: prompt.prompt };
      files.push({ ...testFile, isAsPromptfoo: true, maxConcurrency });
    }
  }

  const [firstFile, ...otherFiles] = files;
  noteDefaultJudge(ctx, files, options.judge);
  return firstFile ? [{ ...firstFile, leftOutCaseCount }, ...otherFiles] : [];
}

/**
 * Returns converted tests as if their test file had been parsed, with each case at its line in the
 * configuration.
 */
function toTestsNode({ test, cases: caseFacts }: Pick<ConvertedTests, 'test' | 'cases'>): YamlNode {
  const { cases, ...common } = test;
  const items = isJsonList(cases)
    ? cases.map((item, index) => toYamlNode(item, caseFacts[index]?.line ?? 1))
    : [];
  const nodes = Object.entries(common).map(([key, value]) => [key, toYamlNode(value, 1)] as const);
  return toMapNode([...nodes, ['cases', { kind: 'list', items, line: 1, column: 1 }]], 1);
}

type CasesOfModels = Pick<TestFile, 'models' | 'cases'>;
type CaseOfModels = TestCase & Pick<ConvertedCase, 'modelIndices'>;

/**
 * Returns the cases of a prompt at their places in the configuration: the user never sees the
 * converted text.
 */
function placePromptCases(
  { cases: caseFacts, caseIndices, model, number, template, fault: promptFault }: ConvertedTests,
  cases: readonly TestCase[],
  { hasOnePrompt, file }: { readonly hasOnePrompt: boolean; readonly file: string },
): CaseOfModels[] {
  const placedCases = cases.map((testCase, index): CaseOfModels => {
    const {
      line = 1,
      leftOutCheckCount = 0,
      modelIndices: ownIndices,
      turn,
      vars = {},
    } = caseFacts[index] ?? {};
    const modelIndices = model === undefined ? ownIndices : [model];
    const fault =
      promptFault === undefined ? testCase.fault : new CaseFault(`${file}:${line}: ${promptFault}`);

    return {
      ...testCase,
      name: hasOnePrompt ? testCase.name : `${testCase.name} (prompt ${number})`,
      line,
      leftOutCheckCount,
      expect: testCase.expect.map(expectation => ({ ...expectation, line })),
      ...(fault && { fault }),
      ...(modelIndices && { modelIndices }),
      ...(turn && template && { turn: { ...turn, index, template, vars, promptNumber: number } }),
    };
  });
  return placedCases.filter((_, index) => caseIndices?.has(index) !== false);
}

/** Groups cases that run with the same models, in order. */
function groupByModels(
  models: readonly TestedModel[],
  cases: readonly CaseOfModels[],
): CasesOfModels[] {
  const groups: {
    readonly key: string;
    readonly models: readonly TestedModel[];
    cases: TestCase[];
  }[] = [];
  for (const { modelIndices, ...testCase } of cases) {
    const key = String(modelIndices);
    const last = groups.at(-1);
    if (last?.key === key) {
      last.cases.push(testCase);
    } else {
      const ownModels = modelIndices?.flatMap(index => models[index] ?? []);
      groups.push({ key, models: ownModels ?? models, cases: [testCase] });
    }
  }
  return groups.map(({ models: groupModels, cases: groupCases }) => ({
    models: groupModels,
    cases: groupCases,
  }));
}

/** Reports the default judge if an expectation uses it. */
function noteDefaultJudge(
  ctx: Context,
  files: readonly TestFile[],
  judge: string | undefined,
): void {
  if (judge !== undefined || ctx.settings.get('judge') !== undefined) return;
  const expectations = flattenExpectations(
    files.flatMap(({ cases }) => cases).flatMap(({ expect }) => expect),
  );

  const defaultJudged = [...expectations].find(({ rank }) => rank === 'last');
  if (defaultJudged) {
    ctx.io.noteOnce(
      `note: judged by ${defaultJudged.model}, promptfoo's default for the key that is set`,
    );
  }
}
