import type { Context } from '../../context.ts';
import { toPosixRelativePath } from '../../core/paths.ts';
import { readTextFile } from '../../inputs/read-text.ts';
import { parseTestFile } from './parse-test-file.ts';
import { readForeignTests } from './read-foreign-tests.ts';
import type { TestFileOptions } from './reading-context.ts';
import { MAX_TEST_FILE_BYTES, type TestFile } from './test-case.ts';
import { isPromptfooFile, isTestFile } from './test-file-names.ts';

/**
 * Reads a test file and every file that it names. Sends nothing.
 *
 * @returns one file, or one for each prompt and group of models of a promptfoo configuration
 * @throws {CliError} USAGE_ERROR with file and line if it is invalid
 */
export async function readTestFile(
  ctx: Context,
  filePath: string,
  options: TestFileOptions,
): Promise<TestFile[]> {
  if (isPromptfooFile(filePath)) {
    const { readPromptfooTests } = await import('../promptfoo/read-promptfoo-tests.ts');
    return await readPromptfooTests(ctx, filePath, options);
  }

  if (!isTestFile(filePath)) return [await readForeignTests(ctx, filePath)];

  const name = toPosixRelativePath(ctx.cwd, filePath);
  const text = await readTextFile(filePath, ctx.cwd, 'test', MAX_TEST_FILE_BYTES);
  const content = await parseTestFile(ctx, text, { path: filePath, name, options });
  return [{ path: filePath, name, ...content }];
}
