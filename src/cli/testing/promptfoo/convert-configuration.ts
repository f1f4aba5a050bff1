import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { JsonObject } from '../../../files/formats/json.ts';
import type { ConvertOptions } from '../../../prompts/foreign/convert-options.ts';
import type {
  ConversionNote,
  ConvertedCase,
  ConvertedPrompt,
  PromptTemplate,
} from '../../../prompts/foreign/converted-prompt.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import { pluralize } from '../../core/pluralize.ts';
import { readTextFile } from '../../inputs/read-text.ts';
import { toOneLine } from '../../terminal/sanitise.ts';
import { runFileTask } from '../cases/run-file-task.ts';
import { MAX_TEST_FILE_BYTES } from '../cases/test-case.ts';
import type { NamedJudge } from '../expectations/expectation-kind.ts';
import { makePromptsByProgram, makePromptsByTemplate } from './prompts-by-case.ts';
import { type NamedConfiguration, runTestPrograms } from './run-test-programs.ts';

/** Maximum number of prompts for which a configuration is parsed once. */
const MAX_PROMPTS_AT_ONCE = 64;

/** Maximum number of times that the tests of a program may name programs in turn. */
const MAX_PROGRAM_ROUNDS = 5;

/**
 * A prompt of a promptfoo configuration with its tests, converted to a prompt file and a test file.
 */
export interface ConvertedTests {
  /** The text of the prompt file. */
  readonly promptText: string;
  /** The content of the test file, as data. */
  readonly testFileContent: JsonObject;
  /** The facts about each case of the test file. */
  readonly cases: readonly ConvertedCase[];
  /** The indices of the cases for this prompt; all if undefined. */
  readonly caseIndices?: ReadonlySet<number>;
  /** The index of the model to run these cases with, instead of their own. */
  readonly modelIndex?: number;
  /** The template that makes the prompt of each case, if there is one. */
  readonly template?: PromptTemplate | undefined;
  /** The fault of these cases, if their prompt can't be sent. */
  readonly fault?: string | undefined;
  /** The line of the prompt in the configuration; default 1. */
  readonly line?: number;
  /** The number of the prompt in the configuration, from 1. */
  readonly promptNumber: number;
}

/** The tests of a configuration, and the settings that they share. */
export interface PromptfooTests {
  readonly prompts: readonly ConvertedTests[];
  /** promptfoo's default judge, used if nothing names a judge. */
  readonly defaultJudge: NamedJudge | undefined;
  /** The number of cases that are left out, because they have no equivalent. */
  readonly leftOutCaseCount: number;
  /** Maximum number of cases to run at a time. */
  readonly maxConcurrency: number | undefined;
}

/** A configuration, and how it is read. */
interface PromptfooFile {
  /** The absolute path. */
  readonly file: string;
  readonly name: string;
  readonly hasModels: boolean;
  readonly allowCommands: boolean;
  readonly skipUnsupported: boolean;
}

/**
 * Converts a promptfoo configuration: returns its tests, once for each of its prompts.
 *
 * @throws {CliError} USAGE_ERROR that names every part without an equivalent that could change a
 * verdict
 */
export async function convertTestedConfiguration(
  ctx: Context,
  configuration: PromptfooFile,
): Promise<PromptfooTests> {
  const { file, name, hasModels, allowCommands } = configuration;
  forgetDeclaredModels(ctx, file);
  const converter = await createConverter(ctx, configuration);
  const convertedPrompts = await convertAllPrompts(ctx, {
    configuration,
    converter,
    programOutputs: {},
  });
  checkSupported(ctx, convertedPrompts, configuration);
  const [firstPrompt] = convertedPrompts;
  const warnings = firstPrompt?.notes.filter(({ isWarning }) => isWarning === true) ?? [];
  for (const warning of warnings) ctx.io.noteOnce(`note: ${formatNote(warning)}`);

  if (!hasModels && firstPrompt?.namesOnlyUnknownProviders) {
    throw usageError(`${name}: none of its providers is known`, 'Name a model with -m.');
  }

  if (firstPrompt?.modelsText !== undefined && allowCommands) {
    ctx.declaredModels.push({ text: firstPrompt.modelsText, file });
  }

  const prompts: ConvertedTests[] = [];
  for (const [index, prompt] of convertedPrompts.entries()) {
    prompts.push(
      ...(await readConvertedTests(ctx, prompt, { file, name, promptNumber: index + 1 })),
    );
  }
  checkRunnable(prompts, name);

  return {
    prompts,
    defaultJudge: await findDefaultJudge(ctx),
    leftOutCaseCount: convertedPrompts.reduce(
      (sum, { leftOutCaseCount = 0 }) => sum + leftOutCaseCount,
      0,
    ),
    maxConcurrency: firstPrompt?.maxConcurrency,
  };
}

/** @throws {CliError} USAGE_ERROR if there is no test, or no prompt of a test can be sent */
function checkRunnable(prompts: readonly ConvertedTests[], name: string): void {
  const [firstTests] = prompts;
  if (!firstTests) throw usageError(`${name} has no tests: there is nothing to test`);

  if (firstTests.fault !== undefined && prompts.every(({ fault }) => fault !== undefined)) {
    throw usageError(`${name}:${firstTests.line ?? 1}: ${firstTests.fault}`);
  }
}

/**
 * Forgets what the configuration declared when it was read before, so that its models get the same
 * names again.
 */
function forgetDeclaredModels({ declaredModels }: Context, file: string): void {
  const index = declaredModels.findIndex(configurationModels => configurationModels.file === file);
  if (index !== -1) declaredModels.splice(index, 1);
}

/** Converts a configuration, with the outputs of the programs that make its tests, by name. */
interface Converter {
  /** Converts it for its first prompt. */
  convertFirst(programOutputs: ProgramOutputs): Promise<ConvertedPrompt>;
  /** Converts it for more of its prompts, by number. */
  convertMore(
    numbers: readonly number[],
    programOutputs: ProgramOutputs,
  ): Promise<ConvertedPrompt[]>;
}

type ProgramOutputs = Readonly<Record<string, string>>;

async function createConverter(
  ctx: Context,
  { file, name, allowCommands }: PromptfooFile,
): Promise<Converter> {
  const text = await readTextFile(file, ctx.cwd, 'test', MAX_TEST_FILE_BYTES);
  const { PROVIDER_SETTINGS } = await import('../../../models/model-entry.ts');
  const { readDescribedNames } = await import('../../../models/catalogue/described-names.ts');

  const takenNames = await readDescribedNames(ctx);
  const createTask = (programOutputs: ProgramOutputs) => {
    const options: ConvertOptions = {
      settingNames: [...PROVIDER_SETTINGS],
      directory: path.dirname(file),
      promptNumber: 1,
      allowOutside: ctx.globals.allowOutside,
      isForTest: true,
      allowCommands,
      takenModelNames: takenNames.models,
      takenProviders: takenNames.providers,
      programOutputs,
      env: pickNamedEnvironment(text, ctx),
    };
    return { text, file: name, options };
  };

  return {
    convertFirst: outputs => runFileTask(ctx, 'convert', createTask(outputs)),
    convertMore: (numbers, outputs) =>
      runFileTask(ctx, 'convertPrompts', { ...createTask(outputs), numbers }),
  };
}

/** A configuration while it is converted. */
interface ConfigurationConversion {
  readonly configuration: PromptfooFile;
  readonly converter: Converter;
  /** The outputs of the programs that have run so far. */
  readonly programOutputs: Record<string, string>;
}

/**
 * Converts the configuration for each of its prompts, after the programs that make its tests have
 * run.
 */
async function convertAllPrompts(
  ctx: Context,
  conversion: ConfigurationConversion,
): Promise<ConvertedPrompt[]> {
  const firstPrompt = await convertFirstPrompt(ctx, conversion);
  const promptCount = firstPrompt.promptCount ?? 1;
  return [firstPrompt, ...(await convertOtherPrompts(ctx, conversion, promptCount))];
}

/** Converts the first prompt, and adds the outputs of the programs that make its tests. */
async function convertFirstPrompt(
  ctx: Context,
  { configuration, converter, programOutputs }: ConfigurationConversion,
): Promise<ConvertedPrompt> {
  const { file, name } = configuration;
  let firstPrompt = await converter.convertFirst(programOutputs);
  if (firstPrompt.promptCount === undefined) {
    throw usageError(
      `${name} is not a configuration of promptfoo`,
      'Rename it, or name the files to test.',
    );
  }

  for (let round = 0; firstPrompt.testPrograms && firstPrompt.testPrograms.length > 0; round += 1) {
    if (round === MAX_PROGRAM_ROUNDS) {
      throw usageError(`${name}: the programs that make its tests name ever more programs`);
    }
    // No program starts if the rest of the configuration can't be run.
    checkSupported(ctx, [firstPrompt], configuration);
    await runTestPrograms(ctx, firstPrompt.testPrograms, programOutputs, { file, name });
    firstPrompt = await converter.convertFirst(programOutputs);
  }

  return firstPrompt;
}

async function convertOtherPrompts(
  ctx: Context,
  { configuration, converter, programOutputs }: ConfigurationConversion,
  promptCount: number,
): Promise<ConvertedPrompt[]> {
  const { file, name } = configuration;
  const convertedPrompts: ConvertedPrompt[] = [];
  const pendingNumbers = Array.from({ length: promptCount - 1 }, (_, index) => index + 2);
  while (pendingNumbers.length > 0) {
    // Lets a signal be handled.
    await setImmediate();
    ctx.signal.throwIfAborted();
    const numbers = pendingNumbers.splice(0, MAX_PROMPTS_AT_ONCE);
    let nextPrompts = await converter.convertMore(numbers, programOutputs);

    // The request bodies of two prompts may differ.
    const programs = nextPrompts.flatMap(({ testPrograms = [] }) => testPrograms);
    await runTestPrograms(ctx, programs, programOutputs, { file, name });
    if (programs.length > 0) nextPrompts = await converter.convertMore(numbers, programOutputs);
    convertedPrompts.push(...nextPrompts);
  }

  return convertedPrompts;
}

/** Returns the environment variables that a text names in `{{env.…}}`. */
function pickNamedEnvironment(text: string, { env }: Context): Record<string, string> {
  const names = [...text.matchAll(/\{\{\s*env\.(\w+)\s*\}\}/gu)].map(([, name = '']) => name);
  return Object.fromEntries(
    names.flatMap(name => (Object.hasOwn(env, name) ? [[name, env[name] ?? '']] : [])),
  );
}

/** Returns promptfoo's default judge for the keys that are set; undefined if none is. */
async function findDefaultJudge({ env }: Context): Promise<NamedJudge | undefined> {
  const { DEFAULT_JUDGES } = await import(
    '../../../prompts/foreign/promptfoo/providers/default-judges.ts'
  );
  const [, model] = DEFAULT_JUDGES.find(([variable]) => Boolean(env[variable]?.trim())) ?? [];
  return model === undefined ? undefined : { model, judgeRank: 'last' };
}

/**
 * Returns the tests of a prompt; once for each prompt file, if a program or a template makes the
 * prompt of each case.
 */
async function readConvertedTests(
  ctx: Context,
  {
    promptText,
    testContent,
    cases = [],
    program,
    template,
    isPromptLeftOut = false,
  }: ConvertedPrompt,
  source: NamedConfiguration & { readonly promptNumber: number },
): Promise<ConvertedTests[]> {
  if (testContent === undefined || isPromptLeftOut) return [];

  const tests = { testFileContent: testContent, cases, promptNumber: source.promptNumber };
  if (program) {
    const prompts = await makePromptsByProgram(ctx, program, cases, source);
    return prompts.map(casePrompt => ({ ...casePrompt, ...tests }));
  }

  if (template) {
    const prompts = await makePromptsByTemplate(ctx, template, cases, source);
    return prompts.map(casePrompt => ({ ...casePrompt, ...tests, template }));
  }

  return [{ promptText, ...tests }];
}

/**
 * Checks that the prompts have no unsupported part. With `--skip-unsupported`, only reports each.
 *
 * @throws {CliError} USAGE_ERROR that names each unsupported part
 */
function checkSupported(
  ctx: Context,
  convertedPrompts: readonly ConvertedPrompt[],
  { skipUnsupported }: Pick<PromptfooFile, 'skipUnsupported'>,
): void {
  const notes = convertedPrompts
    .flatMap(converted => converted.notes)
    .filter(({ isHarmless }) => isHarmless !== true);
  const messages = [...new Set(notes.map(formatNote))];
  const [firstMessage, ...otherMessages] = messages;
  if (firstMessage === undefined) return;

  if (skipUnsupported) {
    for (const place of messages) ctx.io.noteOnce(`note: left out: ${place}`);
    return;
  }

  const needsPrograms = notes.some(({ needsCommands }) => needsCommands);
  const modelsText = convertedPrompts[0]?.modelsText;
  if (needsPrograms && modelsText !== undefined) {
    ctx.io.note('note: its programs and addresses as entries of a models file:');
    for (const line of modelsText.trimEnd().split('\n')) ctx.io.note(`  ${toOneLine(line)}`);
  }

  const hints = [...otherMessages];
  if (needsPrograms) hints.push('If you trust the file, add --allow-commands.');

  if (notes.some(({ needsCommands }) => needsCommands !== true)) {
    hints.push(
      `--skip-unsupported leaves out what has no equivalent (${pluralize(messages.length, 'place')}).`,
    );
  }

  throw usageError(firstMessage, ...hints, 'Nothing was sent.');
}

function formatNote({ file, line, message }: ConversionNote): string {
  return `${toOneLine(file)}:${line}: ${toOneLine(message)}`;
}
