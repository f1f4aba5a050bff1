import type { Context } from '../context.ts';
import { failureOf } from '../core/failure.ts';
import { sharedPath } from '../core/paths.ts';
import { CliError, usageError } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import type { CaseName } from './baseline/read-baseline.ts';
import { type FoundTests, isPromptfooFile } from './cases/find-test-files.ts';
import { readTestFile } from './cases/read-test-file.ts';
import { repeatCases } from './cases/repetitions.ts';
import { checkOfTargets } from './cases/target-folders.ts';
import type { TestFile } from './cases/test-case.ts';
import { allExpectations, type Expectation } from './expectations/expectation.ts';
import type { FileFault } from './result.ts';
import type { Judge } from './run/judge.ts';
import type { TestOptions } from './test-options.ts';

/** Reads every test file; what is wrong with one is a fault of that file. */
export async function readFiles(
  ctx: Context,
  found: FoundTests,
  judge: Judge,
  options: TestOptions,
): Promise<{ files: TestFile[]; faults: FileFault[] }> {
  const files: TestFile[] = [];
  const faults: FileFault[] = [];
  const { allowOutside, watch } = options;
  const mayTarget = allowOutside ? () => true : checkOfTargets(ctx.cwd, found);
  for (const file of found.files) {
    try {
      if (options.update && isPromptfooFile(file)) throw notUpdated(sharedPath(ctx.cwd, file));
      const hasModels = options.models.length > 0;
      for (const one of await readTestFile(ctx, file, { allowOutside, mayTarget, hasModels, watch })) {
        const read = repeatCases(one, options.repeating);
        await refuseUncheckable(read, judge, options);
        const models = hasModels ? options.models : read.models;
        files.push(filtered({ ...read, models }, options.filter));
      }
    } catch (error) {
      ctx.signal.throwIfAborted();
      faults.push({ file, name: sharedPath(ctx.cwd, file), fault: failureOf(error) });
    }
  }
  return { files, faults };
}

function notUpdated(name: string): CliError {
  return usageError(
    `--update can't write ${name}: it is a configuration of promptfoo`,
    'Convert it with promptrun prompts new --from, and update the test file.',
  );
}

function filtered(file: TestFile, filter: string | undefined): TestFile {
  return { ...file, cases: file.cases.filter(({ name }) => hasWords(filter, { file: file.name, name })) };
}

/** Returns true for a case with all words of `--filter` in its file or name. */
export function hasWords(
  filter: string | undefined,
  { file, name }: Pick<CaseName, 'file' | 'name'>,
): boolean {
  const words = (filter ?? '').toLowerCase().match(/\S+/gu) ?? [];
  const text = `${file} ${name}`.toLowerCase();
  return words.every(word => text.includes(word));
}

/**
 * Refuses what only a flag allows, and models that are not there, before anything of the file is sent.
 *
 * @throws {CliError} with file and line
 */
export async function refuseUncheckable(
  file: TestFile,
  judge: Judge,
  { allowCommands }: Pick<TestOptions, 'allowCommands'>,
): Promise<void> {
  for (const expectation of allExpectations(file.cases.flatMap(({ expect }) => expect))) {
    try {
      if (expectation.kind === 'command' && !allowCommands) throw commandsNotAllowed();
      if (needsJudge(expectation)) await judge.check(expectation.model);
    } catch (error) {
      const { message, ...fault } = failureOf(error);
      throw new CliError(`${file.name}:${expectation.line}: ${message}`, { ...fault, cause: error });
    }
  }
}

/** Whether a model judges it. */
export function needsJudge({ kind }: Expectation): boolean {
  return kind === 'rubric' || kind === 'llm';
}

function commandsNotAllowed(): CliError {
  return new CliError('it runs a command of its own', {
    status: 'USAGE_ERROR',
    exitCode: EXIT.usage,
    hints: ['If you trust the file, add --allow-commands. Nothing of it was sent.'],
  });
}
