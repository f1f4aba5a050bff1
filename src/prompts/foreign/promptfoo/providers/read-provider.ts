import type { JsonObject } from '../../../../files/formats/json.ts';
import type { YamlValue } from '../../../../files/formats/yaml.ts';
import type { ConversionContext, KnownKeys } from '../conversion-context.ts';
import { readMergedValues } from '../files/merged-values.ts';
import { parsesAnswers } from './answer-format.ts';
import { convertSettings } from './convert-settings.ts';
import { buildCallsTransform } from './convert-tools.ts';
import { declareProvider } from './declared/declare-provider.ts';
import { ENVIRONMENT_TAG } from './declared/entry-placeholders.ts';
import { findModelName } from './model-names.ts';
import type { DeclaredProvider, PromptfooProvider, WrittenProvider } from './promptfoo-provider.ts';
import { findProviderEntry } from './provider-base-url.ts';
import { PROVIDER_THAT_KEEPS_ID, readProviderParts } from './provider-parts.ts';
import { withDefaults } from './sent-settings.ts';

/** Matches the ids of providers whose requests take the `config` of a prompt. */
const PROVIDER_WITH_PROMPT_CONFIG =
  /^(?:openai|anthropic|azure(?:openai)?|google|openrouter|github|perplexity|huggingface|hf):/u;

/** Matches a Python file and possibly the name of a function: `python:provider.py:call_api`. */
const PYTHON_PROVIDER_ID = /^(?:file:\/\/|python:)(?<file>.+?\.py)(?::(?<functionName>\w+))?$/u;

const PROVIDER_KEYS: KnownKeys = {
  supported: ['config', 'label', 'delay', 'transform', 'description', 'tags', 'prompts'],
  unsupported: ['env', 'inputs'],
};

/** Matches variables that name a model, whose values may be shown because they are not keys. */
const MODEL_VARIABLE =
  /^(?!.*(?:KEY|TOKEN|SECRET|PASS|CREDENTIAL)).*(?:MODEL|PROVIDER|GRADER|JUDGE)/iu;

/** Code of a transform that parses an answer if it is JSON. */
const PARSE_ANSWER_CODE = `try { return JSON.parse(output); } catch {}
return output;`;

/**
 * Reads a provider of the configuration as a model of promptrun. Reports one without an equivalent,
 * and returns undefined.
 */
export function readPromptfooProvider(
  item: YamlValue,
  conversion: ConversionContext,
  role: ProviderRole = {},
): PromptfooProvider | undefined {
  const { scalar } = item;
  if (scalar !== undefined) {
    return convertProvider({ id: scalar, place: item, ...role }, conversion);
  }

  const { writtenId: id, label, entries } = readProviderParts(item);
  conversion.reportKeys(entries, PROVIDER_KEYS, { owner: 'a provider' });
  const config = entries.get('config');
  const transform = entries.get('transform')?.scalar;
  return convertProvider({ id, place: item, ...role, config, label, transform }, conversion);
}

/** The way in which a configuration uses a provider. */
type ProviderRole = Pick<WrittenProvider, 'promptConfig' | 'isJudge'>;

/** Converts a provider to a model, or to the entry of a program or an address. */
function convertProvider(
  writtenProvider: WrittenProvider,
  conversion: ConversionContext,
): PromptfooProvider | undefined {
  const omissionsBefore = conversion.omissionCount;
  const provider = conversion.isForTest
    ? fillModelVariables(writtenProvider, conversion)
    : writtenProvider;
  conversion.reportNodeOnlyCode(provider.transform, provider.place);

  const declaredProvider = declareProvider(provider, conversion);
  const [firstSetting] = provider.promptConfig?.values() ?? [];
  if (firstSetting && (declaredProvider || !PROVIDER_WITH_PROMPT_CONFIG.test(provider.id))) {
    conversion.reportOmission(
      firstSetting,
      `settings of a prompt or of all tests have no equivalent for \`${provider.id}\``,
    );
  }

  if (declaredProvider) return convertDeclaredProvider(declaredProvider, provider, conversion);
  return conversion.omissionCount > omissionsBefore
    ? undefined
    : convertModel(provider, conversion);
}

/** Converts a program or an address, which is left out if it may not be run. */
function convertDeclaredProvider(
  declaredProvider: DeclaredProvider,
  provider: WrittenProvider,
  conversion: ConversionContext,
): PromptfooProvider {
  const { id, place, transform } = provider;
  const kind = 'program' in declaredProvider.entry ? 'a program' : 'an address';
  const isLeftOut = conversion.omitUnlessAllowed(place, `the provider \`${id}\` is ${kind}`);

  return {
    ...declaredProvider,
    names: listTestedNames(provider),
    config: {},
    transform: composeTransforms([declaredProvider.transform, transform]),
    place,
    isLeftOut,
  };
}

/**
 * Returns a provider with the environment variables in its id filled in, if their names show that
 * they name models.
 */
function fillModelVariables(
  provider: WrittenProvider,
  conversion: ConversionContext,
): WrittenProvider {
  if (/^(?:https?|file|exec|python):/u.test(provider.id)) return provider;

  const id = provider.id.replaceAll(ENVIRONMENT_TAG, (tag, name: string) =>
    MODEL_VARIABLE.test(name) && Object.hasOwn(conversion.env, name)
      ? conversion.env[name] || tag
      : tag,
  );
  const isModel = findModelName(id) !== undefined;
  if (isModel && id.includes('{{')) {
    conversion.reportOmission(
      provider.place,
      `the provider \`${id}\` needs a variable with the name of its model`,
    );
  }

  return { ...provider, id };
}

/** Converts a provider that is a model. Reports one that we don't have, and returns undefined. */
function convertModel(
  provider: WrittenProvider,
  conversion: ConversionContext,
): PromptfooProvider | undefined {
  const { id, place, config, transform } = provider;
  const model = findModelName(id);
  if (model === undefined) {
    conversion.reportOmission(
      place,
      `the provider \`${id}\` has no equivalent: name a model of promptrun`,
    );
    return undefined;
  }

  const { settings, output, answerTransform } = convertModelSettings(provider, conversion);
  const fields = {
    names: listTestedNames(provider),
    usesResponses: conversion.isForTest && id.startsWith('openai:responses:'),
    config: withDefaults(id, model, settings),
    output,
    transform: composeTransforms([conversion.isForTest ? answerTransform : undefined, transform]),
    place,
  };

  const address = findProviderEntry(id, config, conversion);
  if (!address) return { model, ...fields };

  const isLeftOut = conversion.omitUnlessAllowed(
    place,
    `the provider \`${id}\` is used at ${address.entry.baseUrl}`,
  );
  const nameAtProvider = model.replace(/^[^/]+\//u, '');
  return { model: `${address.name}/${nameAtProvider}`, ...fields, address, isLeftOut };
}

/** The settings of a model, and how its answers are read. */
interface ModelSettings {
  readonly settings: JsonObject;
  readonly output: JsonObject | undefined;
  /** Code that reads answers as promptfoo does. */
  readonly answerTransform: string | undefined;
}

/** Converts the provider's settings, overridden by those of the prompt. */
function convertModelSettings(
  { id, config, promptConfig }: WrittenProvider,
  conversion: ConversionContext,
): ModelSettings {
  const providerConfig = config && readMergedValues(config, 'config');
  const providerSettings = convertSettings({ id }, providerConfig, conversion);
  const promptSettings = convertSettings({ id }, promptConfig, conversion);
  const settings = { ...providerSettings.settings, ...promptSettings.settings };
  const output = promptSettings.output ?? providerSettings.output;
  const answerTransform = parsesAnswers(id, output)
    ? PARSE_ANSWER_CODE
    : buildCallsTransform(id, settings);
  return { settings, output, answerTransform };
}

/** Returns code that runs two transforms one after the other; undefined if there are none. */
function composeTransforms(
  codes: readonly [string | undefined, string | undefined],
): string | undefined {
  const [first, second] = codes.filter(code => code !== undefined);
  if (first === undefined || second === undefined) return first;
  const [firstBody, secondBody] = [first, second].map(code =>
    code.includes('\n') ? code : `return ${code}`,
  );

  return `const first = (function (output, context) {
${firstBody}
})(output, context);
return (function (output, context) {
${secondBody}
})(first, context);`;
}

/**
 * Returns the names by which tests refer to a provider: its label, and its id unless promptfoo
 * chooses one only when it loads the provider.
 */
function listTestedNames({ id, label, place }: WrittenProvider): string[] {
  const { file, functionName = 'default' } = PYTHON_PROVIDER_ID.exec(id)?.groups ?? {};
  const isPython = file !== undefined;
  const testedId = isPython && !place.isMap ? `python:${file}:${functionName}` : id;
  const isIdKnown = isPython || PROVIDER_THAT_KEEPS_ID.test(id);
  return [...(label === undefined ? [] : [label]), ...(isIdKnown ? [testedId] : [])];
}
