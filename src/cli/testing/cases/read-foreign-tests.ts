import type { ForeignTests } from '../../../prompts/foreign/foreign-tests.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import { toPosixRelativePath } from '../../core/paths.ts';
import { readTextFile } from '../../inputs/read-text.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import type { UnplacedExpectation } from '../expectations/expectation-kind.ts';
import { createExpectation, EXPECTATION_KINDS } from '../expectations/expectation-kinds.ts';
import { ALL_RUNS } from './pass-rule.ts';
import { runFileTask } from './run-file-task.ts';
import { MAX_TEST_FILE_BYTES, type TestCase, type TestFile } from './test-case.ts';

/**
 * Reads the tests inside a prompt file of another tool.
 *
 * @throws {CliError} USAGE_ERROR if the file has no tests
 * @throws {InvalidPromptFileError} with file and line if the file is invalid
 */
export async function readForeignTests(ctx: Context, filePath: string): Promise<TestFile> {
  const name = toPosixRelativePath(ctx.cwd, filePath);
  const text = await readTextFile(filePath, ctx.cwd, 'test', MAX_TEST_FILE_BYTES);
  const tests = await runFileTask(ctx, 'foreignTests', { text, file: name });
  if (!tests || tests.cases.length === 0) {
    throw usageError(
      `${name} has no testData: there is nothing to test`,
      'Add rows to it, or a test file next to it.',
    );
  }

  for (const { line, message } of tests.notes) {
    ctx.io.note(`note: ${toOneLine(name)}:${line}: ${toOneLine(message)}`);
  }

  const cases = tests.cases.map(
    ({ name, line, inputs, data, expect }): TestCase => ({
      name,
      line,
      text: new Map(Object.entries(inputs)),
      images: [],
      options: new Map(),
      expectations: expect.map(expectation =>
        createExpectation(expectation.kind, toUnplacedExpectation(expectation, tests), expectation),
      ),
      repeat: 1,
      passRule: ALL_RUNS,
      placeholderValues: new Map(Object.entries(data)),
      trims: true,
    }),
  );
  return { path: filePath, name, target: filePath, models: [{ model: undefined }], cases };
}

function toUnplacedExpectation(
  expectation: ForeignTests['cases'][number]['expect'][number],
  { model }: ForeignTests,
): UnplacedExpectation {
  const { llm, rubric, equals } = EXPECTATION_KINDS;
  if (expectation.kind === 'llm') return llm.create(expectation);
  if (expectation.kind === 'equals') return equals.create({ text: expectation.text });
  if (expectation.kind === 'rubric') {
    return rubric.create({ ...(model !== undefined && { model }), ...expectation });
  }
  return EXPECTATION_KINDS[expectation.kind].create(expectation.text);
}

/**
 * Returns true if a file has rows and checks for them. Also returns true for a file that can't be
 * read, so that its fault is reported with those of other test files.
 */
export async function hasForeignTests(ctx: Context, file: string): Promise<boolean> {
  try {
    const text = await readTextFile(file, ctx.cwd, 'test', MAX_TEST_FILE_BYTES);
    if (!['testData', 'evaluators'].every(key => text.includes(key))) return false;
    const tests = await runFileTask(ctx, 'foreignTests', { text, file });
    return tests?.cases.some(({ expect }) => expect.length > 0) ?? false;
  } catch {
    ctx.signal.throwIfAborted();
    return true;
  }
}
