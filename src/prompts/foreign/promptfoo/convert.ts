import { FileFault, faultAt } from '../../../files/formats/file-fault.ts';
import type { JsonObject } from '../../../files/formats/json.ts';
import type { YamlValue } from '../../../files/formats/yaml.ts';
import { InvalidPromptFile } from '../../findings.ts';
import type { ConversionLimits } from '../conversion-budget.ts';
import {
  type Converted,
  type ConvertOptions,
  type PromptProgram,
  type PromptTemplate,
  promptFileText,
  testFileContent,
} from '../converted.ts';
import { inputsIn } from '../template-pieces.ts';
import { caseNeeds } from './case-needs.ts';
import { noteClaudeLines } from './claude-lines.ts';
import { noteEnvironment, noteExtensions, warnOfRedTeam } from './configuration-notes.ts';
import {
  type ConfiguredModels,
  convertedModels,
  declaredModels,
  testFileModels,
} from './configured-models.ts';
import { Conversion, type KnownKeys, valuesByKey } from './conversion.ts';
import { type PromptBody, promptBody, renderedBody, withBlanks } from './prompt-body.ts';
import { promptMessages } from './prompt-messages.ts';
import type { PromptText } from './prompt-text.ts';
import { readAllPrompts } from './prompts.ts';
import type { PromptfooProvider } from './providers/provider.ts';
import { nameProviders } from './providers/providers.ts';
import { type ParsedText, resolveReferences } from './references.ts';
import { type CaseNeeds, casesForPrompt } from './tests/test-cases.ts';
import { jsonVariables, readTests, settingsOfAllTests, storedVariables } from './tests/tests.ts';
import { noteFreshIds } from './tests/transform-vars.ts';

const CONFIGURATION_KEYS: KnownKeys = {
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

/** The cases of a prompt that no provider gets. */
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
  conversion.noteKeys(entries, CONFIGURATION_KEYS, '');
  noteEnvironment(entries.get('env'), conversion);
  noteExtensions(entries.get('extensions'), conversion);
  warnOfRedTeam(entries, conversion);
  const prompts = readPrompts(entries.get('prompts'), root, conversion);
  const prompt = chosenPrompt(entries.get('prompts') ?? root, prompts, options, conversion);
  const promptText = promptBody(prompt, conversion);
  const settings = sharedSettings(prompt, entries, conversion);
  nameProviders(entries.get('providers') ?? entries.get('targets'), conversion);
  const configuredTests = await readTests(entries, prompts, conversion);
  // The values that a written models file gets later are not known.
  const missable = conversion.isForTest ? [...configuredTests.names, ...inputsIn(promptText.body)] : [];
  const json = jsonVariables(configuredTests, missable);
  conversion.variables = {
    all: configuredTests.names,
    json: json.names,
    stored: storedVariables(configuredTests),
  };
  const convertedBody = renderedBody(prompt, promptText, configuredTests, conversion);
  const models = convertedModels(
    entries,
    { prompts, prompt, settings, configured: configuredTests },
    conversion,
  );
  const isLeftOut =
    convertedBody.isLeftOut ||
    noteClaudeLines(prompt, models, conversion) ||
    noteFreshIds(configuredTests, prompt, models.known, conversion);
  const body = { ...convertedBody, isLeftOut };
  const head = frontMatter(models.asked[0], entries.get('description')?.scalar);
  const needs = caseNeeds({ prompt, body, models, json }, conversion);
  const { cases, leftOut } = models.areAsked ? casesForPrompt(models.tests, needs, conversion) : NO_CASES;
  return {
    ...convertedPromptFile(head, body, needs, conversion),
    test: testFile(cases, models),
    ...declaredModels(models.known),
    notes: conversion.notes,
    prompts: prompts.length,
    isWithoutModel: models.listed.length === 0,
    maxConcurrency: configuredTests.settings.maxConcurrency,
    cases: cases.map(({ line, leftOut, vars, models, turn }) => ({
      line,
      leftOut,
      vars,
      models,
      ...(turn && { turn }),
    })),
    leftOut: body.isLeftOut ? cases.length : leftOut,
    isPromptLeftOut: body.isLeftOut,
    testPrograms: conversion.testPrograms,
    ...choosePromptMaker(prompt, { head, body, models, optional: needs.inputs }, conversion),
  };
}

/** Returns the settings of a prompt and of all tests, which win over those of the providers. */
function sharedSettings(
  { config }: PromptText,
  entries: ReadonlyMap<string, YamlValue>,
  conversion: Conversion,
): ReadonlyMap<string, YamlValue> {
  const ofPrompt = config ? valuesByKey(config, 'config') : [];
  return new Map([...ofPrompt, ...settingsOfAllTests(entries.get('defaultTest'), conversion)]);
}

function convertedPromptFile(
  head: JsonObject,
  { body }: PromptBody,
  { inputs }: CaseNeeds,
  { isForTest }: Conversion,
): Pick<Converted, 'prompt'> {
  const optional = inputs.filter(name => !inputsIn(body).includes(name));
  return { prompt: promptFileText(head, isForTest ? withBlanks(body) : body, { optional }) };
}

/** Returns the content of the test file; undefined without a case. */
function testFile(
  cases: ReturnType<typeof casesForPrompt>['cases'],
  { asked, listed, added }: ConfiguredModels,
): JsonObject | undefined {
  if (cases.length === 0) return undefined;
  return testFileContent({
    ...testFileModels(asked, [...listed, ...added]),
    cases: cases.map(({ text }) => text),
  });
}

/** Returns the program or the template that makes a prompt for each case; nothing if its prompt file expresses it. */
function choosePromptMaker(
  { program, readsLabel, at }: PromptText,
  {
    head,
    body: { template },
    models: { asked },
    optional,
  }: {
    readonly head: JsonObject;
    readonly body: PromptBody;
    readonly models: ConfiguredModels;
    readonly optional: readonly string[];
  },
  conversion: Conversion,
): Pick<Converted, 'program' | 'template'> {
  const promptParts = { head, optional, line: conversion.ownLine(at) ?? 1 };
  const labels = readsLabel ? { labels: asked.map(({ label = '' }) => label) } : {};
  return {
    ...(program && { program: { argv: program, ...labels, ...promptParts } }),
    ...(template !== undefined && { template: { text: template, ...promptParts } }),
  };
}

/** Reads the prompts of a configuration; one that has none gets promptfoo's default. */
function readPrompts(listed: YamlValue | undefined, root: YamlValue, conversion: Conversion): PromptText[] {
  if (listed && !listed.isEmpty) return readAllPrompts(listed, conversion);
  return [{ at: root, text: DEFAULT_PROMPT, label: DEFAULT_PROMPT }];
}

/** Returns the front matter of a prompt file for its first model. */
function frontMatter(
  firstProvider: PromptfooProvider | undefined,
  description: string | undefined,
): JsonObject {
  return {
    ...(description !== undefined && { description }),
    ...(firstProvider && { model: firstProvider.model }),
    ...(firstProvider && Object.keys(firstProvider.config).length > 0 && { config: firstProvider.config }),
    ...(firstProvider?.output && { output: firstProvider.output }),
  };
}

/**
 * Returns the prompt file for the output of a program, or for a template that was rendered: nothing in that is a tag.
 *
 * @throws {InvalidPromptFile} if it can't be expressed
 */
export function promptOfText(
  text: string,
  promptSource: PromptProgram | PromptTemplate,
  file: string,
): string {
  const { head, optional, line } = promptSource;
  try {
    const template = 'text' in promptSource ? promptSource.text : undefined;
    const body = promptMessages({ at: { file, line, column: 1 }, text }, { template });
    return promptFileText(head, template === undefined ? body : withBlanks(body), { optional });
  } catch (error) {
    throw error instanceof FileFault
      ? new InvalidPromptFile(error.file ?? file, error.line, error.what)
      : error;
  }
}

function chosenPrompt(
  at: YamlValue,
  prompts: readonly PromptText[],
  { prompt: promptNumber }: ConvertOptions,
  conversion: Conversion,
): PromptText {
  const prompt = prompts[(promptNumber ?? 1) - 1];
  if (!prompt) {
    const countText =
      prompts.length === 0
        ? 'it has no prompt'
        : `there are ${prompts.length} prompts, and no prompt ${promptNumber}`;
    throw faultAt(at, countText);
  }
  if (prompts.length > 1 && promptNumber === undefined) {
    conversion.tell(
      at,
      `there are ${prompts.length} prompts, and this is the first: --prompt <n> converts another`,
    );
  }
  return prompt;
}
