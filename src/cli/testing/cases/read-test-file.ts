import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { FileFault } from '../../../files/file-fault.ts';
import { NamedFiles, namesOtherComputer } from '../../../files/named-file.ts';
import { type YamlEntries, type YamlValue, yamlOf } from '../../../files/yaml.ts';
import { isJsonObject } from '../../../wire/bounded-json.ts';
import type { Context } from '../../context.ts';
import { sharedPath } from '../../core/paths.ts';
import { CaseFault } from '../../errors.ts';
import { parseKeyValue } from '../../inputs/flags.ts';
import { type GivenImage, openGivenImages } from '../../inputs/images/place-images.ts';
import { checkNamedFile, imagesNamedIn, type NamingFolder } from '../../inputs/named-file.ts';
import { readTextFile } from '../../inputs/read-text.ts';
import { collectInputs } from '../../inputs/text-inputs.ts';
import { REVISION_MARK } from '../../targets/named-prompt-file.ts';
import { allExpectations } from '../expectations/expectation.ts';
import { readScript } from '../expectations/javascript-kind.ts';
import { type ExpectationsContext, readExpectations } from '../expectations/kinds.ts';
import { isPromptfooFile, isTestFile } from './find-test-files.ts';
import { ALL, passRuleIn } from './pass-rule.ts';
import { readForeignTests } from './read-foreign-tests.ts';
import { MAX_REPEAT } from './repetitions.ts';
import { runFileTask } from './run-file-task.ts';
import type { TargetCheck } from './target-folders.ts';
import { MAX_TEST_FILE_BYTES, type TestCase, type TestedModel, type TestFile } from './test-case.ts';
import { atValue, faultIn, fieldsOf, inputTextIn, numberIn, textIn } from './test-values.ts';

/** The endings of prompt files, in order of precedence: promptrun's own before those of other tools. */
const PROMPT_ENDINGS = ['.prompt', '.prompt.yml', '.prompt.yaml', '.yaml', '.yml', '.md', '.txt'];
const FILE_KEYS = ['target', 'model', 'models', 'trim', 'transform', 'judge', 'pass', 'cases'];
const MAX_CASES = 100_000;
const CASE_KEYS = [
  'name',
  'inputs',
  'images',
  'options',
  'vars',
  'transform',
  'judge',
  'expect',
  'repeat',
  'pass',
];

/** The options for reading test files. */
export interface TestFileOptions extends Pick<NamingFolder, 'allowOutside'> {
  readonly mayTarget: TargetCheck;
  /** True if the command line names models. */
  readonly hasModels: boolean;
  /** True to keep each case's text in the file. Default false. */
  readonly watch?: boolean;
  /** True if the user's own programs may run. */
  readonly allowCommands: boolean;
  /** True to skip unsupported parts. */
  readonly skipUnsupported: boolean;
  /** The model that `--judge` names. */
  readonly judge?: string | undefined;
}

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
  const { readPromptfoo } = await import('./read-promptfoo.ts');
  const name = sharedPath(ctx.cwd, file);
  const { prompts, judge, leftOut } = await readPromptfoo(ctx, { ...options, file, name });
  const isOne = new Set(prompts.map(({ number }) => number)).size === 1;
  const source = {
    file,
    name,
    options: { ...options, judge, judgeRank: 'first' as const, isAsPromptfoo: true },
    target: file,
  };
  const contents = new Map<string, Awaited<ReturnType<typeof parseTestFile>>>();
  const files: TestFile[] = [];
  for (const { prompt, test, cases, only, number } of prompts) {
    const content = contents.get(test) ?? (await parseTestFile(ctx, test, source));
    contents.set(test, content);
    const own = content.cases.map((one, at) => {
      const { line = 1, leftOut = 0 } = cases[at] ?? {};
      // The user never sees the lines of the converted text.
      const expect = one.expect.map(expectation => ({ ...expectation, line }));
      return { ...one, line, leftOut, expect, name: isOne ? one.name : `${one.name} (prompt ${number})` };
    });
    const chosen = own.filter((_, at) => only?.has(at) !== false);
    files.push({ file, name, ...content, cases: chosen, prompt, ...(files.length === 0 && { leftOut }) });
  }
  noteDefaultJudge(ctx, files, options.judge);
  return files;
}

/** Notes the default judge if an expectation uses it. */
function noteDefaultJudge(ctx: Context, files: readonly TestFile[], judge: string | undefined): void {
  if (judge !== undefined || ctx.settings.get('judge') !== undefined) return;
  const all = allExpectations(files.flatMap(({ cases }) => cases).flatMap(({ expect }) => expect));
  const found = [...all].find(({ rank }) => rank === 'last');
  if (found) ctx.io.noteOnce(`note: judged by ${found.model}, promptfoo's default for the key that is set`);
}

interface TestFileSource {
  readonly file: string;
  readonly name: string;
  readonly options: Omit<TestFileOptions, 'judge'> &
    Pick<ExpectationsContext, 'judge' | 'judgeRank' | 'isAsPromptfoo'>;
  /** The target in place of the one that the text names. */
  readonly target?: string;
}

async function parseTestFile(
  ctx: Context,
  text: string,
  { file, name, options, target }: TestFileSource,
): Promise<Pick<TestFile, 'cases' | 'target' | 'models'>> {
  const inFolder = {
    ...ctx,
    ...options,
    cwd: path.dirname(file),
    counted: new NamedFiles(),
    texts: new Map(),
  };
  try {
    const root = yamlOf(await runFileTask(ctx, 'readYaml', { text, file: name }), 1, name);
    return await readContent(inFolder, root, file, target);
  } catch (error) {
    throw error instanceof FileFault ? faultIn(error, error.what) : error;
  }
}

/** The context for reading a test file. */
interface ReadingContext extends ExpectationsContext, Omit<TestFileOptions, 'judge'> {
  /** The contents of files that inputs name, by path, because many cases may name the same one. */
  readonly texts: Map<string, string>;
}

async function readContent(
  ctx: ReadingContext,
  root: YamlValue,
  file: string,
  target?: string,
): Promise<Pick<TestFile, 'cases' | 'target' | 'models'>> {
  const fields = fieldsOf(root, 'a test file', FILE_KEYS);
  const listed = fields.get('cases');
  if (listed === undefined) throw faultIn(root, 'there are no cases');
  const trims = trimsAnswers(fields);
  const pass = passOf(fields) ?? { pass: ALL };
  const transform = await transformOf(ctx, fields);
  const shared = [...fields]
    .filter(([key]) => key !== 'cases')
    .map(([key, { value }]) => [key, value.json()]);
  const writtenIn = (value: YamlValue) =>
    ctx.watch ? { written: JSON.stringify([shared, value.json()]) } : {};
  const judge = judgeOf(fields, ctx);
  const cases: TestCase[] = [];
  const items = listed.value.items('cases');
  if (items.length > MAX_CASES) {
    throw faultIn(listed, `there are more than ${MAX_CASES.toLocaleString('en')} cases`);
  }
  for (const [at, value] of items.entries()) {
    cases.push({
      ...pass,
      ...transform,
      ...(await readCase({ ...ctx, judge }, value, at + 1)),
      ...writtenIn(value),
      trims,
    });
  }
  if (cases.length === 0) throw faultIn(listed, 'cases is empty');
  return {
    cases,
    target: target ?? readTarget(ctx, root, fields, file),
    models: await readTestedModels(ctx, fields),
  };
}

/** Returns the path of a prompt file, or else a name for a service or an alias to resolve. */
function readTarget(
  ctx: Context & Pick<TestFileOptions, 'mayTarget'>,
  root: YamlValue,
  fields: YamlEntries,
  file: string,
): string {
  const named = fields.get('target')?.value;
  const own = `./${path.basename(file).replace(/\.test\.ya?ml$/u, '')}`;
  const targets = named ? [textIn(named, 'target')] : PROMPT_ENDINGS.map(ending => own + ending);
  const [target = ''] = targets;
  // Resolving the target refuses a revision later.
  if (ctx.settings.aliases.has(target) || target.includes(REVISION_MARK)) return target;
  if (namesOtherComputer(target)) {
    throw faultIn(named ?? root, `the target ${target} is on another computer, or a device`);
  }
  const prompt = targets.map(one => path.resolve(path.dirname(file), one)).find(one => existsSync(one));
  // Slugs and ids have no slash or dot, except after an @.
  const isPath = /[/\\]|^[^@]*\./u.test(target) || PROMPT_ENDINGS.some(ending => target.endsWith(ending));
  if (!isPath) return target;
  if (prompt !== undefined && !statSync(prompt).isFile()) {
    throw faultIn(named ?? root, `the prompt file ${prompt} is not a regular file`);
  }
  if (prompt !== undefined && ctx.mayTarget(file, prompt)) {
    const note = noteOnBackslashes(target);
    if (note !== undefined) ctx.io.note(`note: ${root.file}:${named?.line}: ${note}`);
    return prompt;
  }
  if (prompt !== undefined) {
    throw faultIn(
      named ?? root,
      `the prompt file ${target} lies outside the working directory, the folder of the tests and their repository`,
      'If you trust the test file, name it on the command line, or add --allow-outside.',
    );
  }
  throw faultIn(
    named ?? root,
    `there is no prompt file ${target}`,
    target.includes('\\')
      ? 'Write the path with /: a backslash in it works on Windows only.'
      : 'target names what to test: a prompt file, a slug, a version id or an alias.',
  );
}

/** Returns a note if other systems can't find the target; undefined otherwise. */
export function noteOnBackslashes(
  target: string,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if (platform !== 'win32' || !target.includes('\\')) return undefined;
  return `the target ${target} works on Windows only; write ${target.replaceAll('\\', '/')}`;
}

async function readTestedModels(ctx: ReadingContext, fields: YamlEntries): Promise<readonly TestedModel[]> {
  const [one, several] = [fields.get('model'), fields.get('models')];
  if (one && several) throw faultIn(several, 'model and models are both set: keep one');
  if (one) return [{ model: textIn(one.value, 'model') }];
  if (several === undefined) return [{ model: undefined }];
  const models = new Map<string, TestedModel>();
  for (const value of several.value.items('models')) {
    models.set(JSON.stringify(value.json()), await readTestedModel(ctx, value));
  }
  if (models.size === 0) throw faultIn(several, 'models is empty');
  return numbered([...models.values()]);
}

const MODEL_KEYS = ['model', 'config', 'transform'];

async function readTestedModel(ctx: ReadingContext, value: YamlValue): Promise<TestedModel> {
  if (!value.isMap) return { model: textIn(value, 'a model') };
  const fields = fieldsOf(value, 'a model', MODEL_KEYS);
  const [model, config] = [fields.get('model'), fields.get('config')];
  if (model === undefined) throw faultIn(value, 'a model needs `model`');
  const settings = config?.value.json();
  if (config && !isJsonObject(settings)) throw faultIn(config, 'config must be a map of keys to values');
  return {
    model: textIn(model.value, 'model'),
    ...(isJsonObject(settings) && { config: settings }),
    ...(await transformOf(ctx, fields)),
  };
}

/** Numbers models that have the same name but different configs. */
function numbered(models: readonly TestedModel[]): TestedModel[] {
  return models.map((one, at) => {
    const before = models.slice(0, at).filter(({ model }) => model === one.model).length;
    return before === 0 ? one : { ...one, number: before + 1 };
  });
}

/** Returns the judge that a file or case names, or else the inherited one. */
function judgeOf(
  fields: YamlEntries,
  { judge, judgeRank }: ExpectationsContext,
): ExpectationsContext['judge'] {
  const named = fields.get('judge');
  return named ? { model: textIn(named.value, 'judge'), rank: judgeRank } : judge;
}

function trimsAnswers(fields: YamlEntries): boolean {
  const trim = fields.get('trim');
  if (trim === undefined) return false;
  const value = trim.value.json();
  if (typeof value === 'boolean') return value;
  throw faultIn(trim, 'trim must be true or false');
}

function passOf(fields: YamlEntries): Pick<TestCase, 'pass' | 'passPlace'> | undefined {
  const entry = fields.get('pass');
  return entry && { pass: passRuleIn(entry.value), passPlace: entry.value };
}

/** A case whose `pass` is set only if the case has its own. */
type ReadCase = Omit<TestCase, 'pass'> & Partial<Pick<TestCase, 'pass'>>;

async function readCase(ctx: ReadingContext, value: YamlValue, number: number): Promise<ReadCase> {
  if (value.isEmpty) throw faultIn(value, 'a case must be a map of keys to values');
  const fields = fieldsOf(value, 'a case', CASE_KEYS);
  const [name, expected] = [fields.get('name'), fields.get('expect')];
  const facts = {
    name: name ? textIn(name.value, 'name') : `case ${number}`,
    line: value.line,
    options: readOptions(fields),
    repeat: readRepeat(fields),
    ...passOf(fields),
  };
  const reads: string[] = [];
  const noting = { ...ctx, onNamed: (file: string) => reads.push(file) };
  try {
    const judge = judgeOf(fields, ctx);
    const expect = expected ? await readExpectations(expected.value, { ...noting, judge }) : [];
    const transform = await transformOf(noting, fields);
    const inputs = await caseInputs(noting, fields);
    return { ...facts, ...inputs, ...readVars(fields), ...transform, folder: noting, expect, reads };
  } catch (error) {
    if (!(error instanceof CaseFault)) throw error;
    return { ...facts, text: new Map(), images: [], expect: [], reads, fault: error };
  }
}

async function transformOf(
  ctx: Context & NamingFolder,
  fields: YamlEntries,
): Promise<Pick<TestCase, 'transform'>> {
  const value = fields.get('transform')?.value;
  return value ? { transform: await readScript(value, 'transform', ctx) } : {};
}

/** Reads the values that only expectations see; `llm` sees them as strings. */
function readVars(fields: YamlEntries): Pick<TestCase, 'vars' | 'data'> {
  const entries = [...fieldsUnder(fields, 'vars')].map(([key, { value }]) => ({ key, value }));
  if (entries.length === 0) return {};
  return {
    vars: Object.fromEntries(entries.map(({ key, value }) => [key, value.json()])),
    data: new Map(
      entries.map(({ key, value }) => [key, value.isEmpty ? '' : inputTextIn(value, `the variable ${key}`)]),
    ),
  };
}

function readRepeat(fields: YamlEntries): number {
  const value = fields.get('repeat')?.value;
  if (value === undefined) return 1;
  const repeat = numberIn(value, 'repeat', 'a whole number of 1 or more');
  if (repeat > MAX_REPEAT) throw faultIn(value, `repeat (${repeat}) is more than ${MAX_REPEAT}`);
  return repeat;
}

/** Reads a case's inputs like those of `run`, with files relative to the test file. */
async function caseInputs(
  ctx: ReadingContext,
  fields: YamlEntries,
): Promise<Pick<TestCase, 'text' | 'images'>> {
  const text = new Map<string, string>();
  for (const [key, { value }] of fieldsUnder(fields, 'inputs')) {
    const written = inputTextIn(value, `the input ${JSON.stringify(key)}`);
    const read = readCaseValue(ctx, key, written).catch((error: unknown) => {
      throw atValue(value, error, message => message.replace(/^--input /u, ''));
    });
    text.set(key, await read);
  }
  const images: GivenImage[] = [];
  for (const value of fields.get('images')?.value.items('images') ?? []) {
    const named = textIn(value, 'an image');
    if (named === '-') throw faultIn(value, NO_STANDARD_INPUT);
    const opened = openGivenImages(imagesNamedIn(ctx, ctx), [named]).catch((error: unknown) => {
      throw atValue(value, error, String);
    });
    images.push(...(await opened));
  }
  return { text, images };
}

const NO_STANDARD_INPUT = "a test can't read standard input";

async function readCaseValue(ctx: ReadingContext, key: string, written: string): Promise<string> {
  if (written === '@-') throw new Error(NO_STANDARD_INPUT);
  const named = /^@(?!@)/u.test(written) ? path.resolve(ctx.cwd, written.slice(1)) : undefined;
  if (named !== undefined) checkNamedFile(ctx, written.slice(1));
  const read = named === undefined ? undefined : ctx.texts.get(named);
  if (read !== undefined) return read;
  const { text } = await collectInputs(ctx, { inputs: [`${key}=${written}`], images: [] });
  const value = text.get(key) ?? '';
  if (named !== undefined) ctx.texts.set(named, value);
  return value;
}

function readOptions(fields: YamlEntries): ReadonlyMap<string, string> {
  return new Map(
    [...fieldsUnder(fields, 'options')].map(([key, { value }]) => {
      const pair = parseKeyValue(`${key}=${inputTextIn(value, `the option ${key}`)}`, 'options');
      return [pair.key, pair.value];
    }),
  );
}

function fieldsUnder(fields: YamlEntries, key: string): YamlEntries {
  const entry = fields.get(key);
  return entry ? fieldsOf(entry.value, key) : new Map();
}
