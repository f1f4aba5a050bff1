import type { Context } from '../context.ts';
import { CliError, usageError } from '../core/errors.ts';
import { EXIT } from '../core/exit-codes.ts';
import { toFailure } from '../core/failure.ts';
import { toPosixRelativePath } from '../core/paths.ts';
import type { CaseName } from './baseline/read-baseline.ts';
import type { FoundTests } from './cases/find-test-files.ts';
import { readTestFile } from './cases/read-test-file.ts';
import { repeatCases } from './cases/repetitions.ts';
import { createTargetCheck, type TargetCheck } from './cases/target-folders.ts';
import { type TestFile, withChosenCases } from './cases/test-case.ts';
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
): Promise<{ files: TestFile[]; faults: FaultyTestFile[] }> {
  const files: TestFile[] = [];
  const faultyFiles = new FaultyFiles(ctx);
  const mayTarget = options.allowOutside ? () => true : createTargetCheck(ctx.cwd, foundTests);
  for (const file of foundTests.files) {
    const testFiles = await faultyFiles.collect(file, () =>
      readSelectedCases(ctx, file, mayTarget, options),
    );
    files.push(...(testFiles ?? []));
  }

  // The models that any of the files declares are known by now.
  for (const file of files) {
    await faultyFiles.collect(file.file, () => checkProgramsAndJudges(file, judge, options));
  }

  return { files: files.filter(({ file }) => !faultyFiles.has(file)), faults: faultyFiles.faults };
}

/** Returns the faults of files whose expectations have no judge that exists. */
export async function findJudgeFaults(
  ctx: Context,
  files: readonly TestFile[],
  judge: Judge,
): Promise<FaultyTestFile[]> {
  const faulty = new FaultyFiles(ctx);
  for (const file of files) await faulty.collect(file.file, () => checkJudges(file, judge));
  return faulty.faults;
}

/** Collects the first fault of each test file. */
class FaultyFiles {
  readonly faults: FaultyTestFile[] = [];
  readonly #ctx: Context;

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  has(file: string): boolean {
    return this.faults.some(fault => fault.file === file);
  }

  /** Returns the result of `work`; undefined if it fails, which becomes the file's fault. */
  async collect<T>(file: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#ctx.signal.throwIfAborted();
      if (!this.has(file)) {
        this.faults.push({
          file,
          name: toPosixRelativePath(this.#ctx.cwd, file),
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
  file: string,
  mayTarget: TargetCheck,
  options: TestOptions,
): Promise<TestFile[]> {
  if (options.update && isPromptfooFile(file)) {
    throw notUpdatableError(toPosixRelativePath(ctx.cwd, file));
  }

  const hasModels = options.models.length > 0;
  const { allowOutside, allowCommands, skipUnsupported, judge, watch } = options;
  const flags = { allowOutside, allowCommands, skipUnsupported, judge, watch };
  const testFiles = await readTestFile(ctx, file, { ...flags, mayTarget, hasModels });

  return testFiles.map(testFile => {
    const repeatedFile = withoutCommands(repeatCases(testFile, options.repeating), options);
    const models = hasModels ? options.models.map(model => ({ model })) : repeatedFile.models;
    return withChosenCases({ ...repeatedFile, models }, ({ name }) =>
      hasWords(options.filter, { file: repeatedFile.name, name }),
    );
  });
}

/** Leaves out checks that run programs if programs may not run and `--skip-unsupported` is set. */
function withoutCommands(
  file: TestFile,
  { allowCommands, skipUnsupported }: Pick<TestOptions, 'allowCommands' | 'skipUnsupported'>,
): TestFile {
  if (allowCommands || !skipUnsupported) return file;
  const runsProgram = (expectation: Expectation): boolean =>
    [...flattenExpectations([expectation])].some(({ isProgram }) => isProgram);
  const cases = file.cases.map(testCase => {
    const expect = testCase.expect.filter(expectation => !runsProgram(expectation));
    const leftOutCheckCount =
      (testCase.leftOutCheckCount ?? 0) + testCase.expect.length - expect.length;
    return { ...testCase, expect, leftOutCheckCount };
  });
  return { ...file, cases };
}

function notUpdatableError(name: string): CliError {
  return usageError(
    `--update can't write ${name}: it is a configuration of promptfoo`,
    'Convert it with promptrun prompts new --from, and update the test file.',
  );
}

/** Returns true for a case with all words of `--filter` in its file or name. */
export function hasWords(
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
    if (expectation.isProgram && !allowCommands) throw commandsNotAllowedError();
    if (!failed && needsJudge(expectation)) await judge.check(expectation);
  });
}

function checkJudges(file: TestFile, judge: Judge): Promise<void> {
  return checkExpectations(file, async expectation => {
    if (needsJudge(expectation)) await judge.check(expectation);
  });
}

/** Calls `check` with every expectation of a file. @throws {CliError} with file and line */
async function checkExpectations(
  file: TestFile,
  check: (expectation: Expectation) => Promise<void>,
): Promise<void> {
  for (const expectation of flattenExpectations(file.cases.flatMap(({ expect }) => expect))) {
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
