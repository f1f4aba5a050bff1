import type { Context } from '../context.ts';
import { CliError, usageError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import { toFailure } from '../core/failure.ts';
import { toPosixRelativePath } from '../core/paths.ts';
import type { CaseName } from './baseline/read-baseline.ts';
import type { FoundTests } from './cases/find-test-files.ts';
import { readTestFile } from './cases/read-test-file.ts';
import { repeatCases } from './cases/repeat-cases.ts';
import { createTargetCheck, type TargetCheck } from './cases/target-check.ts';
import { type TestCase, type TestFile, withChosenCases } from './cases/test-case.ts';
import { isPromptfooFile } from './cases/test-file-names.ts';
import type { FaultyTestFile } from './entry-result.ts';
import { type Expectation, flattenExpectations } from './expectations/expectation.ts';
import type { Judge } from './judging/judge.ts';
import type { TestOptions } from './test-options.ts';

/** Reads every test file. An invalid file is a fault of that file alone. */
export async function readTestFiles(
  ctx: Context,
  foundTests: FoundTests,
  judge: Judge,
  options: TestOptions,
): Promise<{ files: TestFile[]; faultyFiles: FaultyTestFile[] }> {
  const files: TestFile[] = [];
  const collector = new FaultCollector(ctx);
  const mayTarget = options.allowOutside ? () => true : createTargetCheck(ctx.cwd, foundTests);
  for (const filePath of foundTests.paths) {
    const testFiles = await collector.attempt(filePath, () =>
      readSelectedCases(ctx, filePath, mayTarget, options),
    );
    files.push(...(testFiles ?? []));
  }

  // The models that any of the files declares are known by now.
  for (const file of files) {
    await collector.attempt(file.path, () => checkProgramsAndJudges(file, judge, options));
  }

  return {
    files: files.filter(({ path: filePath }) => !collector.has(filePath)),
    faultyFiles: collector.faultyFiles,
  };
}

/** Returns the faults of files whose expectations have no judge that exists. */
export async function findJudgeFaults(
  ctx: Context,
  files: readonly TestFile[],
  judge: Judge,
): Promise<FaultyTestFile[]> {
  const collector = new FaultCollector(ctx);
  for (const file of files) await collector.attempt(file.path, () => checkJudges(file, judge));
  return collector.faultyFiles;
}

/** Collects the first fault of each test file. */
class FaultCollector {
  readonly faultyFiles: FaultyTestFile[] = [];
  readonly #ctx: Context;

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  /** Returns true if a file has a fault. */
  has(filePath: string): boolean {
    return this.faultyFiles.some(faultyFile => faultyFile.path === filePath);
  }

  /** Returns the result of `work`; undefined if it fails, which becomes the file's fault. */
  async attempt<T>(filePath: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#ctx.signal.throwIfAborted();
      if (!this.has(filePath)) {
        this.faultyFiles.push({
          path: filePath,
          name: toPosixRelativePath(this.#ctx.cwd, filePath),
          fault: toFailure(error),
        });
      }
      return undefined;
    }
  }
}

/**
 * Reads the cases of a test file that the flags select, with their repetitions and models; of
 * promptfoo's, one file for each prompt.
 */
async function readSelectedCases(
  ctx: Context,
  filePath: string,
  mayTarget: TargetCheck,
  options: TestOptions,
): Promise<TestFile[]> {
  if (options.update && isPromptfooFile(filePath)) {
    throw notUpdatableError(toPosixRelativePath(ctx.cwd, filePath));
  }

  const hasModels = options.models.length > 0;
  const { allowOutside, allowCommands, skipUnsupported, judgeModel, watch } = options;
  const flags = { allowOutside, allowCommands, skipUnsupported, judgeModel, watch };
  const testFiles = await readTestFile(ctx, filePath, { ...flags, mayTarget, hasModels });

  return testFiles.map(testFile => {
    const repeatedFile = withoutProgramChecks(repeatCases(testFile, options.repeating), options);
    const models = hasModels ? options.models.map(model => ({ model })) : repeatedFile.models;
    return withChosenCases({ ...repeatedFile, models }, ({ name }) =>
      matchesFilter(options.filter, { file: repeatedFile.name, name }),
    );
  });
}

/** Leaves out checks that run programs if programs may not run and `--skip-unsupported` is set. */
function withoutProgramChecks(
  file: TestFile,
  { allowCommands, skipUnsupported }: Pick<TestOptions, 'allowCommands' | 'skipUnsupported'>,
): TestFile {
  if (allowCommands || !skipUnsupported) return file;
  const cases = file.cases.map((testCase): TestCase => {
    const expectations = testCase.expectations.filter(expectation => !needsProgram(expectation));
    const leftOutCheckCount =
      (testCase.leftOutCheckCount ?? 0) + testCase.expectations.length - expectations.length;
    return { ...testCase, expectations, leftOutCheckCount };
  });
  return { ...file, cases };
}

/** Returns true if an expectation, or one inside it, runs a program. */
function needsProgram(expectation: Expectation): boolean {
  return [...flattenExpectations([expectation])].some(({ runsProgram }) => runsProgram);
}

function notUpdatableError(name: string): CliError {
  return usageError(
    `--update can't write ${name}: it is a configuration of promptfoo`,
    'Convert it with promptrun prompts new --from, and update the test file.',
  );
}

/** Returns true for a case whose file and name together have all words of `--filter`. */
export function matchesFilter(
  filter: string | undefined,
  { file, name }: Pick<CaseName, 'file' | 'name'>,
): boolean {
  // macOS may list `é` as two characters, and it is typed as one.
  const words = (filter ?? '').normalize('NFC').toLowerCase().match(/\S+/gu) ?? [];
  const text = `${file} ${name}`.normalize('NFC').toLowerCase();
  return words.every(word => text.includes(word));
}

/**
 * Refuses programs without their flag, and judges that don't exist, before anything of the file is
 * sent. With `--failed`, only the cases that are then chosen need their judges.
 *
 * @throws {CliError} with file and line
 */
export async function checkProgramsAndJudges(
  file: TestFile,
  judge: Judge,
  {
    allowCommands,
    failed = false,
  }: Pick<TestOptions, 'allowCommands'> & { readonly failed?: boolean },
): Promise<void> {
  await checkExpectations(file, async expectation => {
    if (expectation.runsProgram && !allowCommands) throw commandsNotAllowedError();
    if (!failed && needsJudge(expectation)) await judge.checkModel(expectation);
  });
}

function checkJudges(file: TestFile, judge: Judge): Promise<void> {
  return checkExpectations(file, async expectation => {
    if (needsJudge(expectation)) await judge.checkModel(expectation);
  });
}

/** Calls `check` with every expectation of a file, and adds the place to its errors. */
async function checkExpectations(
  file: TestFile,
  check: (expectation: Expectation) => Promise<void>,
): Promise<void> {
  for (const expectation of flattenExpectations(
    file.cases.flatMap(({ expectations }) => expectations),
  )) {
    try {
      await check(expectation);
    } catch (error) {
      const { message, ...fault } = toFailure(error);
      throw new CliError(`${file.name}:${expectation.line}: ${message}`, {
        ...fault,
        cause: error,
      });
    }
  }
}

/** Returns true if a model judges the expectation. */
export function needsJudge({ kind }: Expectation): boolean {
  return kind === 'rubric' || kind === 'llm';
}

function commandsNotAllowedError(): CliError {
  return new CliError('it runs its own command', {
    status: 'USAGE_ERROR',
    exitCode: EXIT.usage,
    hints: ['If you trust the file, add --allow-commands. Nothing was sent.'],
  });
}
