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
  filePath: string,
  options: TestFileOptions,
): Promise<TestFile[]> {
  const name = toPosixRelativePath(ctx.cwd, filePath);
  const { prompts, defaultJudge, leftOutCaseCount, maxConcurrency } =
    await convertTestedConfiguration(ctx, { ...options, file: filePath, name });
  const hasOnePrompt = new Set(prompts.map(({ promptNumber }) => promptNumber)).size === 1;
  const source = {
    path: filePath,
    name,
    options: { ...options, judge: defaultJudge, judgeRank: 'first' as const, isAsPromptfoo: true },
    target: filePath,
  };

  // Many prompts have the same tests, which are read once.
  const contents = new Map<string, TestFileContent>();
  const files: TestFile[] = [];
  for (const prompt of prompts) {
    const key = JSON.stringify(prompt.testFileContent);
    const content = contents.get(key) ?? (await readTestFileNode(ctx, toTestsNode(prompt), source));
    contents.set(key, content);
    const cases = placePromptCases(prompt, content.cases, { hasOnePrompt, file: name });

    const groups = options.hasModels
      ? [{ models: content.models, cases }]
      : groupByModels(content.models, cases);
    for (const group of groups) {
      files.push({
        path: filePath,
        name,
        ...content,
        ...group,
        promptText: prompt.promptText,
        isAsPromptfoo: true,
        maxConcurrency,
      });
    }
  }

  const [firstFile, ...otherFiles] = files;
  noteDefaultJudge(ctx, files, options.judgeModel);
  return firstFile ? [{ ...firstFile, leftOutCaseCount }, ...otherFiles] : [];
}

/**
 * Returns converted tests as if their test file had been parsed, with each case at its line in the
 * configuration.
 */
function toTestsNode({
  testFileContent,
  cases: caseFacts,
}: Pick<ConvertedTests, 'testFileContent' | 'cases'>): YamlNode {
  const { cases, ...common } = testFileContent;
  const items = isJsonList(cases)
    ? cases.map((item, index) => toYamlNode(item, caseFacts[index]?.line ?? 1))
    : [];
  const nodes = Object.entries(common).map(([key, value]) => [key, toYamlNode(value, 1)] as const);
  return toMapNode([...nodes, ['cases', { kind: 'list', items, line: 1, column: 1 }]], 1);
}

/** Cases, and the models to run each of them with. */
type CasesOfModels = Pick<TestFile, 'models' | 'cases'>;
/** A case with the indices of its models; all models if undefined. */
type CaseOfModels = TestCase & Pick<ConvertedCase, 'modelIndices'>;

/**
 * Returns the cases for a prompt, with their lines in the configuration, because the user never sees
 * the converted text.
 */
function placePromptCases(
  {
    cases: caseFacts,
    caseIndices,
    modelIndex,
    promptNumber,
    template,
    fault: promptFault,
  }: ConvertedTests,
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
    const modelIndices = modelIndex === undefined ? ownIndices : [modelIndex];
    const fault =
      promptFault === undefined ? testCase.fault : new CaseFault(`${file}:${line}: ${promptFault}`);

    return {
      ...testCase,
      name: hasOnePrompt ? testCase.name : `${testCase.name} (prompt ${promptNumber})`,
      line,
      leftOutCheckCount,
      expectations: testCase.expectations.map(expectation => ({ ...expectation, line })),
      ...(fault && { fault }),
      ...(modelIndices && { modelIndices }),
      ...(turn && template && { turn: { ...turn, index, template, vars, promptNumber } }),
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
    const lastGroup = groups.at(-1);
    if (lastGroup?.key === key) {
      lastGroup.cases.push(testCase);
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

/** Reports promptfoo's default judge if an expectation uses it. */
function noteDefaultJudge(
  ctx: Context,
  files: readonly TestFile[],
  judgeModel: string | undefined,
): void {
  if (judgeModel !== undefined || ctx.settings.get('judge') !== undefined) return;
  const expectations = flattenExpectations(
    files.flatMap(({ cases }) => cases).flatMap(({ expectations }) => expectations),
  );

  const expectation = [...expectations].find(({ judgeRank }) => judgeRank === 'last');
  if (expectation) {
    ctx.io.noteOnce(
      `note: judged by ${expectation.model}, promptfoo's default for the key that is set`,
    );
  }
}
