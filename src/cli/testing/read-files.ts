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
import type { FaultyTestFile } from './result.ts';
import type { Judge } from './run/judge.ts';
import type { TestOptions } from './test-options.ts';

/** Reads every test file. An invalid file is a fault of that file alone. */
export async function readFiles(
  ctx: Context,
  found: FoundTests,
  judge: Judge,
  options: TestOptions,
): Promise<{ files: TestFile[]; faults: FaultyTestFile[] }> {
  const files: TestFile[] = [];
  const faults: FaultyTestFile[] = [];
  const { allowOutside, allowCommands, skipUnsupported, watch } = options;
  const mayTarget = allowOutside ? () => true : checkOfTargets(ctx.cwd, found);
  for (const file of found.files) {
    try {
      if (options.update && isPromptfooFile(file)) throw notUpdated(sharedPath(ctx.cwd, file));
      const hasModels = options.models.length > 0;
      const flags = { allowOutside, allowCommands, skipUnsupported, judge: options.judge, watch };
      for (const one of await readTestFile(ctx, file, { ...flags, mayTarget, hasModels })) {
        const read = withoutCommands(repeatCases(one, options.repeating), options);
        const models = hasModels ? options.models.map(model => ({ model })) : read.models;
        files.push(filtered({ ...read, models }, options.filter));
      }
    } catch (error) {
      refuse(file, error);
    }
  }
  // The models that any of the files declares are known now.
  const checked: TestFile[] = [];
  for (const file of files) {
    try {
      await refuseUncheckable(file, judge, options);
      checked.push(file);
    } catch (error) {
      refuse(file.file, error);
    }
  }
  const isRefused = ({ file }: TestFile): boolean => faults.some(fault => fault.file === file);
  return { files: checked.filter(file => !isRefused(file)), faults };

  function refuse(file: string, error: unknown): void {
    ctx.signal.throwIfAborted();
    if (faults.some(fault => fault.file === file)) return;
    faults.push({ file, name: sharedPath(ctx.cwd, file), fault: failureOf(error) });
  }
}

/** Leaves out checks that run programs if programs may not run and `--skip-unsupported` is set. */
function withoutCommands(
  file: TestFile,
  { allowCommands, skipUnsupported }: Pick<TestOptions, 'allowCommands' | 'skipUnsupported'>,
): TestFile {
  if (allowCommands || !skipUnsupported) return file;
  const runsProgram = (one: Expectation): boolean =>
    [...allExpectations([one])].some(({ isProgram }) => isProgram);
  const cases = file.cases.map(testCase => {
    const expect = testCase.expect.filter(one => !runsProgram(one));
    const leftOut = (testCase.leftOut ?? 0) + testCase.expect.length - expect.length;
    return { ...testCase, expect, leftOut };
  });
  return { ...file, cases };
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
 * Refuses programs without their flag, and models that don't exist, before anything of the file is sent.
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
      if (expectation.isProgram && !allowCommands) throw commandsNotAllowed();
      if (needsJudge(expectation)) await judge.check(expectation);
    } catch (error) {
      const { message, ...fault } = failureOf(error);
      throw new CliError(`${file.name}:${expectation.line}: ${message}`, { ...fault, cause: error });
    }
  }
}

/** Returns true if a model judges the expectation. */
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
