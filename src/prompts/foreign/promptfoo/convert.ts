import { FileFault, faultAt } from '../../../files/file-fault.ts';
import { isJsonList, type JsonObject } from '../../../files/json.ts';
import type { YamlValue } from '../../../files/yaml.ts';
import { InvalidPromptFile } from '../../findings.ts';
import type { ConversionLimits } from '../conversion-budget.ts';
import {
  type Converted,
  type ConvertOptions,
  modelsFileText,
  type PromptProgram,
  type PromptTemplate,
  promptFileText,
  type TestFileText,
  testFileText,
  withEndMark,
} from '../converted.ts';
import { END_MARK, inputsIn, type Piece, testedInputs } from '../template-pieces.ts';
import { Conversion, type KnownKeys, valuesByKey } from './conversion.ts';
import { namesEnvironment } from './fill-variables.ts';
import {
  BeyondPromptFile,
  dumpedChat,
  jsonOf,
  type PromptText,
  promptMessages,
  readAllPrompts,
} from './prompts.ts';
import type { PromptfooProvider } from './provider.ts';
import { hasOtherOutput, OTHER_OUTPUT, readPromptfooProviders } from './providers.ts';
import { type ParsedText, resolveReferences } from './references.ts';
import { type CaseNeeds, casesForPrompt } from './test-cases.ts';
import { withTestedProviders } from './tested-providers.ts';
import {
  type ConfiguredTests,
  comparesOtherwise,
  falsyVariables,
  type JsonVariables,
  jsonVariables,
  readTests,
  settingsOfAllTests,
  storedVariables,
  takesNunjucks,
} from './tests.ts';

const KEYS: KnownKeys = {
  known: [
    'description',
    'prompts',
    'providers',
    'targets',
    'tests',
    'defaultTest',
    'scenarios',
    '$schema',
    // Keys that change no verdict.
    'assertionTemplates',
    'tags',
    'metadata',
    'outputPath',
    'sharing',
    'tracing',
    'redteam',
    'evaluateOptions',
    'commandLineOptions',
    'derivedMetrics',
    'writeLatestResults',
    'env',
    'extensions',
  ],
  unsupported: ['nunjucksFilters'],
};

/** The cases of a prompt that no provider is asked. */
const NO_CASES: ReturnType<typeof casesForPrompt> = { cases: [], leftOut: 0 };

/** The prompt of a configuration that has none. */
const DEFAULT_PROMPT = '{{prompt}}';

/**
 * Converts a promptfoo configuration to a prompt file and its test file.
 *
 * @throws {InvalidPromptFile} whose message names file and line, for a prompt that a prompt file can't express
 */
export async function convertPromptfoo(
  source: ParsedText,
  file: string,
  options: ConvertOptions,
  limits?: ConversionLimits,
): Promise<Converted> {
  try {
    const conversion = new Conversion(options, file, limits);
    return await convertConfiguration(resolveReferences(source, file), options, conversion);
  } catch (error) {
    throw error instanceof FileFault
      ? new InvalidPromptFile(error.file ?? file, error.line, error.what)
      : error;
  }
}

async function convertConfiguration(
  root: YamlValue,
  options: ConvertOptions,
  conversion: Conversion,
): Promise<Converted> {
  const entries = valuesByKey(root, 'a configuration of promptfoo');
  conversion.noteKeys(entries, KEYS, '');
  noteEnvironment(entries.get('env'), conversion);
  noteExtensions(entries.get('extensions'), conversion);
  const prompts = readPrompts(entries.get('prompts'), root, conversion);
  const prompt = chosenPrompt(entries.get('prompts') ?? root, prompts, options, conversion);
  const written = promptBody(prompt, conversion);
  const settings = new Map([
    ...(prompt.config ? valuesByKey(prompt.config, 'config') : []),
    ...settingsOfAllTests(entries.get('defaultTest'), conversion),
  ]);
  const configured = await readTests(entries, prompts, conversion);
  const json = jsonVariables(configured);
  conversion.jsonVariables = json.names;
  conversion.variables = configured.names;
  conversion.storedVariables = storedVariables(configured);
  const {
    body,
    isLeftOut: isPromptLeftOut,
    template,
  } = renderedBody(prompt, written, configured, conversion);
  const listed = readPromptfooProviders(
    entries.get('providers') ?? entries.get('targets'),
    { all: prompts, chosen: prompt },
    conversion,
    settings,
  );
  const usable = listed.filter(({ isLeftOut }) => isLeftOut !== true);
  const asked = withOneOutput(
    usable.filter(({ isAsked }) => isAsked !== false),
    conversion,
  );
  const { tests, added } = withTestedProviders(configured, { listed, asked }, settings, conversion);
  const providers = [...asked, ...added];
  const known = [...listed, ...added, ...conversion.judges];
  const [first] = providers;
  const head = frontMatter(first, entries.get('description')?.scalar);
  const hasCode = providers.some(({ transform }) => transform !== undefined);
  const needs = { ...caseNeeds({ prompt, template, body, known, tests, json }, conversion), hasCode };
  const isAsked = asked.length > 0 || usable.length === 0;
  const { cases, leftOut } = isAsked ? casesForPrompt(tests, needs, conversion) : NO_CASES;
  const { inputs } = needs;
  const optional = inputs.filter(name => !inputsIn(body).includes(name));
  return {
    prompt: promptFileText(head, conversion.isForTest ? withBlanks(body) : body, { optional }),
    test:
      cases.length === 0
        ? undefined
        : testFileText({
            ...testFileModels(providers, [...usable, ...added]),
            cases: cases.map(({ text }) => text),
          }),
    ...declaredModels(known),
    notes: conversion.notes,
    prompts: prompts.length,
    isWithoutModel: usable.length === 0,
    cases: cases.map(({ line, leftOut, vars, models, turn }) => ({
      line,
      leftOut,
      vars,
      models,
      ...(turn && { turn }),
    })),
    leftOut: isPromptLeftOut ? cases.length : leftOut,
    isPromptLeftOut,
    testPrograms: conversion.testPrograms,
    ...(prompt.program && {
      program: { argv: prompt.program, head, optional: inputs, line: conversion.ownLine(prompt.at) ?? 1 },
    }),
    ...(template !== undefined && {
      template: { text: template, head, optional: inputs, line: conversion.ownLine(prompt.at) ?? 1 },
    }),
  };
}

/** Reads the prompts of a configuration; one that has none gets promptfoo's default. */
function readPrompts(listed: YamlValue | undefined, root: YamlValue, conversion: Conversion): PromptText[] {
  if (listed && !listed.isEmpty) return readAllPrompts(listed, conversion);
  return [{ at: root, text: DEFAULT_PROMPT, label: DEFAULT_PROMPT }];
}

/** Returns the inputs that the prompt, its programs and its addresses read, and notes those that they can't tell apart. */
function caseNeeds(
  {
    prompt,
    template,
    body,
    known,
    tests,
    json,
  }: {
    readonly prompt: PromptText;
    readonly template: string | undefined;
    readonly body: readonly Piece[];
    readonly known: readonly PromptfooProvider[];
    readonly tests: ConfiguredTests;
    readonly json: JsonVariables;
  },
  conversion: Conversion,
): Omit<CaseNeeds, 'hasCode'> {
  // Programs and addresses may use any variable.
  const isMade = prompt.program !== undefined || template !== undefined;
  const isAnyUsed = known.some(({ entry }) => entry) || isMade;
  const isInText = (name: string): boolean =>
    prompt.program !== undefined ||
    inputsIn(body).includes(name) ||
    known.some(({ entry }) => entry && 'address' in entry);
  const readsJson = known.some(({ entry }) => isProgramWith(JSON.stringify(json.names), entry));
  for (const name of readsJson ? json.mixed.filter(isInText) : []) {
    conversion.note(
      tests.at,
      `\`${name}\` has texts and other values, which its programs can't tell apart: it has no equivalent`,
    );
  }
  const tested = testedInputs(body);
  const inPrompt = [...new Set([...inputsIn(body), ...tested])];
  const inputs = [
    ...new Set([...inPrompt, ...(isAnyUsed ? tests.names : []), ...conversion.fallbacks.keys()]),
  ];
  const isEachRendered = prompt.program !== undefined || jsonOf(prompt, conversion) === undefined;
  return {
    prompt,
    template,
    inputs,
    jsonInputs: readsJson ? json.names.filter(name => !isInText(name)) : [],
    renderedInputs: prompt.program ? inputs : isEachRendered && template === undefined ? inPrompt : [],
    isEachRendered,
  };
}

/** Returns true if the prompt distinguishes values of a variable that are the same as text. */
function losesKinds(
  { text }: PromptText,
  body: readonly Piece[],
  tests: ConfiguredTests,
  conversion: Conversion,
): boolean {
  const dumped = dumpedChat(text)?.names ?? [];
  const falsy = falsyVariables(tests);
  return (
    dumped.some(
      name => conversion.jsonVariables.includes(name) || tests.all.some(({ vars }) => !vars.has(name)),
    ) ||
    testedInputs(body).some(name => falsy.includes(name)) ||
    body.some(
      piece =>
        'tag' in piece &&
        piece.tests !== undefined &&
        piece.equals !== undefined &&
        comparesOtherwise(tests, piece.tests, piece.equals),
    )
  );
}

/** Returns a body that keeps the blanks at its ends, as promptfoo does. */
function withBlanks(body: readonly Piece[]): readonly Piece[] {
  const [first] = body;
  // A prompt file needs a template.
  if (body.length === 1 && first && 'text' in first && first.text === '') return [END_MARK];
  const marked = first && 'text' in first && /^\s/u.test(first.text) ? [END_MARK, ...body] : body;
  return withEndMark(marked);
}

/** Returns true if an entry is a program with this word. */
function isProgramWith(word: string, entry: JsonObject | undefined): boolean {
  const program = entry?.['program'];
  return isJsonList(program) && program.includes(word);
}

/** Returns the front matter of a prompt file for its first model. */
function frontMatter(first: PromptfooProvider | undefined, description: string | undefined): JsonObject {
  return {
    ...(description !== undefined && { description }),
    ...(first && { model: first.model }),
    ...(first && Object.keys(first.config).length > 0 && { config: first.config }),
    ...(first?.output && { output: first.output }),
  };
}

/** Returns the text of a models file for the programs and addresses; nothing if there are none. */
function declaredModels(providers: readonly PromptfooProvider[]): Pick<Converted, 'models'> {
  const entries = new Map(providers.flatMap(({ model, entry }) => (entry ? [[model, entry] as const] : [])));
  const addressed = providers.flatMap(({ address }) => address ?? []);
  if (entries.size + addressed.length === 0) return {};
  const byName = Object.fromEntries(addressed.map(({ name, entry }) => [name, entry]));
  return { models: modelsFileText([...entries.values()], byName) };
}

/** Notes variables of `env` that could change an answer: keys of the environment serve as well, and are never taken from a file. */
function noteEnvironment(env: YamlValue | undefined, conversion: Conversion): void {
  for (const [name, value] of env && !env.isEmpty ? valuesByKey(env, 'env') : []) {
    if (!conversion.isForTest) conversion.note(value, `\`${name}\` of \`env\` has no equivalent`);
    else if (KEY_VARIABLE.test(name)) conversion.tell(value, `\`${name}\` is taken from the environment`);
    else if (VARIABLE.test(name)) conversion.note(value, `\`${name}\` of \`env\` has no equivalent`);
  }
}

/** Notes extensions, except those that promptfoo calls only after a verdict. */
function noteExtensions(extensions: YamlValue | undefined, conversion: Conversion): void {
  if (!extensions || extensions.isEmpty) return;
  for (const extension of extensions.isList ? extensions.items('extensions') : [extensions]) {
    if (conversion.isForTest && /^file:\/\/.+:after(?:All|Each)$/u.test(extension.scalar ?? '')) {
      conversion.tell(extension, 'an extension that promptfoo calls after a verdict is left out');
    } else {
      conversion.note(extension, '`extensions` has no equivalent');
    }
  }
}

const VARIABLE = /^[A-Z][A-Z\d_]*$/u;
const KEY_VARIABLE = /_(?:API_KEY|TOKEN|ACCESS_KEY_ID|SECRET_ACCESS_KEY)$/u;

/** The messages of a prompt, or the template that makes them for each case. */
interface PromptBody {
  readonly body: readonly Piece[];
  readonly template?: string | undefined;
  readonly isLeftOut: boolean;
}

/** Returns the messages of a prompt. If the tests are run, one that can't be expressed is a template, or left out. */
function promptBody(prompt: PromptText, conversion: Conversion): PromptBody {
  const { at, program } = prompt;
  if (program) return { body: [], isLeftOut: conversion.noteProgram(at, 'the prompt is a program') };
  try {
    if (!conversion.isForTest) return { body: promptMessages(prompt), isLeftOut: false };
    const chat = dumpedChat(prompt.text);
    const body = chat
      ? promptMessages({ ...prompt, text: chat.text })
      : promptMessages(prompt, { json: jsonOf(prompt, conversion), takesBlocks: true });
    return { body, isLeftOut: false };
  } catch (error) {
    if (!conversion.isForTest || !(error instanceof FileFault)) throw error;
    if (error instanceof BeyondPromptFile && !namesEnvironment(prompt.text)) {
      return { body: [], template: templateOf(prompt, conversion), isLeftOut: false };
    }
    const { file, line, column, what } = error;
    conversion.note({ file, line, column }, what);
    return { body: [], isLeftOut: true };
  }
}

/** Returns a template in place of messages that promptfoo would render otherwise from the variables of the tests. */
function renderedBody(
  prompt: PromptText,
  written: PromptBody,
  tests: ConfiguredTests,
  conversion: Conversion,
): PromptBody {
  const isFixed = written.isLeftOut || written.template !== undefined || prompt.program !== undefined;
  if (isFixed || !conversion.isForTest) return written;
  const isRendered =
    conversion.storedVariables.length > 0 ||
    losesKinds(prompt, written.body, tests, conversion) ||
    (jsonOf(prompt, conversion) === undefined &&
      takesNunjucks(tests, [...inputsIn(written.body), ...testedInputs(written.body)]));
  return isRendered ? { ...written, body: [], template: templateOf(prompt, conversion) } : written;
}

/** Returns the text that promptfoo renders: a prompt in a YAML file is JSON there. */
function templateOf(prompt: PromptText, conversion: Conversion): string {
  const json = jsonOf(prompt, conversion);
  return json === undefined ? prompt.text : JSON.stringify(json);
}

/**
 * Returns the prompt file for the output of a program, or for a template that was rendered: nothing in that is a tag.
 *
 * @throws {InvalidPromptFile} if it can't be expressed
 */
export function promptOfText(text: string, made: PromptProgram | PromptTemplate, file: string): string {
  const { head, optional, line } = made;
  try {
    const template = 'text' in made ? made.text : undefined;
    const body = promptMessages({ at: { file, line, column: 1 }, text }, { template });
    return promptFileText(head, template === undefined ? body : withBlanks(body), { optional });
  } catch (error) {
    throw error instanceof FileFault
      ? new InvalidPromptFile(error.file ?? file, error.line, error.what)
      : error;
  }
}

/** Returns the models for a test file; none if the prompt file describes the configuration's only model completely. */
function testFileModels(
  providers: readonly PromptfooProvider[],
  all: readonly PromptfooProvider[],
): Pick<TestFileText, 'models'> {
  const [first, ...others] = providers;
  const isPlain = ({ transform, givesResults, config }: PromptfooProvider): boolean =>
    transform === undefined && !givesResults && JSON.stringify(config) === JSON.stringify(first?.config);
  if (all.length === providers.length && others.length === 0 && (!first || isPlain(first))) return {};
  if (providers.every(isPlain)) return { models: providers.map(({ model }) => model) };
  return {
    models: providers.map(({ model, config, transform, givesResults = false }) => ({
      model,
      config,
      ...(transform !== undefined && { transform }),
      ...(givesResults && { givesResults }),
    })),
  };
}

/** Notes models with another answer format, and leaves them out of a test: a prompt has one format for all models. */
function withOneOutput(
  providers: readonly PromptfooProvider[],
  conversion: Conversion,
): readonly PromptfooProvider[] {
  const [first] = providers;
  return providers.filter(provider => {
    if (!hasOtherOutput(provider, first)) return true;
    conversion.note(provider.at, OTHER_OUTPUT);
    return !conversion.isForTest;
  });
}

function chosenPrompt(
  at: YamlValue,
  prompts: readonly PromptText[],
  { prompt: wanted }: ConvertOptions,
  conversion: Conversion,
): PromptText {
  const prompt = prompts[(wanted ?? 1) - 1];
  if (!prompt) {
    const what =
      prompts.length === 0
        ? 'it has no prompt'
        : `there are ${prompts.length} prompts, and no prompt ${wanted}`;
    throw faultAt(at, what);
  }
  if (prompts.length > 1 && wanted === undefined) {
    conversion.tell(
      at,
      `there are ${prompts.length} prompts, and this is the first: --prompt <n> converts another`,
    );
  }
  return prompt;
}
