import { FileFault, faultAt } from '../../../files/formats/file-fault.ts';
import { type JsonObject, withoutUndefined } from '../../../files/formats/json.ts';
import type { YamlValue } from '../../../files/formats/yaml.ts';
import { InvalidPromptFileError } from '../../findings.ts';
import type { ConversionLimits } from '../conversion-budget.ts';
import type { ConvertOptions } from '../convert-options.ts';
import type { ConvertedPrompt } from '../converted-prompt.ts';
import { buildTestFile, formatPromptFile } from '../file-texts.ts';
import { listInputs } from '../template-pieces.ts';
import { ConversionContext } from './conversion-context.ts';
import { readMergedValues } from './files/merged-values.ts';
import { type ParsedText, resolveReferences } from './files/yaml-references.ts';
import { omitClaudeLines } from './prompts/claude-lines.ts';
import type { ConfiguredPrompt } from './prompts/configured-prompt.ts';
import {
  type PromptBody,
  readPromptBody,
  replaceByTemplateIfNeeded,
  withBlanks,
} from './prompts/prompt-body.ts';
import { readPrompts } from './prompts/read-prompts.ts';
import {
  buildDeclaredModels,
  type ConfiguredModels,
  pickTestFileModels,
  readConfiguredModels,
} from './providers/configured-models.ts';
import type { PromptfooProvider } from './providers/promptfoo-provider.ts';
import { collectNamedProviders } from './providers/read-providers.ts';
import { buildCases, type CasesForPrompt } from './tests/cases-for-prompt.ts';
import type { ConfiguredTests } from './tests/configured-test.ts';
import { findPromptNeeds, type PromptNeeds } from './tests/prompt-needs.ts';
import { readTestSettings, readTests } from './tests/read-tests.ts';
import { reportUsedFreshIds } from './tests/transform-variables.ts';
import {
  collectJsonVariables,
  type JsonVariables,
  listStoredVariables,
} from './tests/variable-kinds.ts';
import { reportUnsupportedParts } from './unsupported-parts.ts';

/** The prompt of a configuration without one. */
const DEFAULT_PROMPT = '{{prompt}}';

/** The cases of a prompt that no provider gets. */
const NO_CASES: CasesForPrompt = { cases: [], leftOutCaseCount: 0 };

/**
 * Converts a promptfoo configuration to a prompt file and its test file.
 *
 * @throws {InvalidPromptFileError} with file and line, if a prompt file can't express the prompt
 */
export async function convertPromptfoo(
  source: ParsedText,
  file: string,
  options: ConvertOptions,
  limits?: ConversionLimits,
): Promise<ConvertedPrompt> {
  try {
    const conversion = new ConversionContext(options, file, limits);
    return await convertDocument(resolveReferences(source, file), options, conversion);
  } catch (error) {
    throw error instanceof FileFault
      ? new InvalidPromptFileError(error.file ?? file, error.line, error.problem)
      : error;
  }
}

/** The parts of a configuration that its files are built from. */
interface ConfigurationParts {
  readonly description: string | undefined;
  readonly prompts: readonly ConfiguredPrompt[];
  readonly prompt: ConfiguredPrompt;
  readonly body: PromptBody;
  readonly tests: ConfiguredTests;
  readonly models: ConfiguredModels;
  /** The variables that are not texts. */
  readonly jsonVariables: JsonVariables;
}

async function convertDocument(
  root: YamlValue,
  options: ConvertOptions,
  conversion: ConversionContext,
): Promise<ConvertedPrompt> {
  const entries = readMergedValues(root, 'a configuration of promptfoo');
  reportUnsupportedParts(entries, conversion);

  const prompts = readPromptsOrDefault(entries.get('prompts'), root, conversion);
  const prompt = choosePrompt(prompts, entries.get('prompts') ?? root, options, conversion);
  const plainBody = readPromptBody(prompt, conversion);
  const settings = readSharedSettings(prompt, entries, conversion);

  // Tests may name providers, whose entries use the variables of the tests.
  const providersNode = entries.get('providers') ?? entries.get('targets');
  collectNamedProviders(providersNode, conversion);
  const tests = await readTests(entries, prompts, conversion);
  const jsonVariables = collectJsonVariables(
    tests,
    findOmissibleInputs(plainBody, tests, conversion),
  );

  // The readers of the body and of the models look variables up in the conversion.
  conversion.variableNames = {
    all: tests.variableNames,
    json: jsonVariables.names,
    stored: listStoredVariables(tests),
  };
  const convertedBody = replaceByTemplateIfNeeded(prompt, plainBody, tests, conversion);
  const models = readConfiguredModels(
    providersNode,
    { prompts, prompt, settings, tests },
    conversion,
  );

  const isLeftOut =
    convertedBody.isLeftOut || omitUnsupportedText({ prompt, tests, models }, conversion);
  const body = { ...convertedBody, isLeftOut };
  const description = entries.get('description')?.scalar;

  return convertParts(
    { description, prompts, prompt, body, tests, models, jsonVariables },
    conversion,
  );
}

/** Reports the reason why a prompt must be left out; returns true if there is one. */
function omitUnsupportedText(
  { prompt, tests, models }: Pick<ConfigurationParts, 'prompt' | 'tests' | 'models'>,
  conversion: ConversionContext,
): boolean {
  if (omitClaudeLines(prompt, models, conversion)) return true;
  return reportUsedFreshIds(tests, prompt, models.allProviders, conversion);
}

/** Builds the prompt file, the test file and the models file. */
function convertParts(
  { description, prompts, prompt, body, tests, models, jsonVariables }: ConfigurationParts,
  conversion: ConversionContext,
): ConvertedPrompt {
  const frontMatter = buildFrontMatter(models.askedProviders[0], description);
  const needs = findPromptNeeds({ prompt, body, models, jsonVariables }, conversion);
  const { cases, leftOutCaseCount } = models.isPromptAsked
    ? buildCases(models.tests, needs, conversion)
    : NO_CASES;

  return {
    promptText: buildPromptFile(frontMatter, body, needs, conversion),
    testContent: buildPromptTestFile(cases, models),
    ...buildDeclaredModels(models.allProviders),
    notes: conversion.notes,
    promptCount: prompts.length,
    namesOnlyUnknownProviders: models.configuredProviders.length === 0,
    maxConcurrency: tests.settings.maxConcurrency,
    cases: cases.map(({ line, leftOutCheckCount, vars, modelIndices, turn }) => ({
      line,
      leftOutCheckCount,
      vars,
      modelIndices,
      ...(turn && { turn }),
    })),
    leftOutCaseCount: body.isLeftOut ? cases.length : leftOutCaseCount,
    isPromptLeftOut: body.isLeftOut,
    testPrograms: conversion.testPrograms,
    ...pickProgramOrTemplate({ prompt, body, models, frontMatter, needs }, conversion),
  };
}

/** Reads the prompts of a configuration; one that has none gets promptfoo's default. */
function readPromptsOrDefault(
  promptsNode: YamlValue | undefined,
  root: YamlValue,
  conversion: ConversionContext,
): ConfiguredPrompt[] {
  if (promptsNode && !promptsNode.isEmpty) return readPrompts(promptsNode, conversion);
  return [{ place: root, text: DEFAULT_PROMPT, label: DEFAULT_PROMPT }];
}

/** @throws {FileFault} if there is no prompt of the chosen number */
function choosePrompt(
  prompts: readonly ConfiguredPrompt[],
  place: YamlValue,
  { promptNumber }: ConvertOptions,
  conversion: ConversionContext,
): ConfiguredPrompt {
  const prompt = prompts[(promptNumber ?? 1) - 1];
  if (!prompt) {
    const message =
      prompts.length === 0
        ? 'it has no prompt'
        : `there are ${prompts.length} prompts, and no prompt ${promptNumber}`;
    throw faultAt(place, message);
  }

  if (prompts.length > 1 && promptNumber === undefined) {
    conversion.reportHarmless(
      place,
      `there are ${prompts.length} prompts, and this is the first: --prompt <n> converts another`,
    );
  }

  return prompt;
}

/** Returns the settings of a prompt and of all tests, which override those of the providers. */
function readSharedSettings(
  { config }: ConfiguredPrompt,
  entries: ReadonlyMap<string, YamlValue>,
  conversion: ConversionContext,
): ReadonlyMap<string, YamlValue> {
  const promptSettings = config ? readMergedValues(config, 'config') : [];
  return new Map([...promptSettings, ...readTestSettings(entries.get('defaultTest'), conversion)]);
}

/** Returns the inputs that a program doesn't get if a test lacks them. */
function findOmissibleInputs(
  { pieces }: PromptBody,
  tests: ConfiguredTests,
  { isForTest }: ConversionContext,
): readonly string[] {
  // A written models file is used with values that are not known yet, so none may be omitted.
  return isForTest ? [...tests.variableNames, ...listInputs(pieces)] : [];
}

/** Returns the front matter of a prompt file for its first model. */
function buildFrontMatter(
  firstProvider: PromptfooProvider | undefined,
  description: string | undefined,
): JsonObject {
  const { model, config = {}, output } = firstProvider ?? {};
  return withoutUndefined({
    description,
    model,
    config: Object.keys(config).length > 0 ? config : undefined,
    output,
  });
}

function buildPromptFile(
  frontMatter: JsonObject,
  { pieces }: PromptBody,
  { inputs }: PromptNeeds,
  { isForTest }: ConversionContext,
): string {
  const optional = inputs.filter(name => !listInputs(pieces).includes(name));
  return formatPromptFile(frontMatter, isForTest ? withBlanks(pieces) : pieces, { optional });
}

/** Returns the content of the test file; undefined without a case. */
function buildPromptTestFile(
  cases: CasesForPrompt['cases'],
  models: ConfiguredModels,
): JsonObject | undefined {
  if (cases.length === 0) return undefined;
  return buildTestFile({
    ...pickTestFileModels(models),
    cases: cases.map(({ testCase }) => testCase),
  });
}

interface PromptParts extends Pick<ConfigurationParts, 'prompt' | 'body' | 'models'> {
  readonly frontMatter: JsonObject;
  readonly needs: PromptNeeds;
}

/**
 * Returns the program or the template that makes a prompt for each case; nothing if its prompt file
 * expresses it.
 */
function pickProgramOrTemplate(
  {
    prompt: { program, readsLabel, place },
    body: { template },
    models: { askedProviders },
    frontMatter,
    needs,
  }: PromptParts,
  conversion: ConversionContext,
): Pick<ConvertedPrompt, 'program' | 'template'> {
  const line = conversion.findConfigurationLine(place) ?? 1;
  const fileParts = { frontMatter, optionalInputs: needs.inputs, line };
  const labels = readsLabel ? { labels: askedProviders.map(({ label = '' }) => label) } : {};
  return {
    ...(program && { program: { argv: program, ...labels, ...fileParts } }),
    ...(template !== undefined && { template: { text: template, ...fileParts } }),
  };
}
