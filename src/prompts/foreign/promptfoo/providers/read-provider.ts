import type { YamlValue } from '../../../../files/formats/yaml.ts';
import { type Conversion, type KnownKeys, valuesByKey } from '../conversion.ts';
import { parsesAnswers } from './answer-format.ts';
import { declareProvider } from './declared-provider.ts';
import { ENVIRONMENT_TAG } from './entry-placeholders.ts';
import { modelName } from './model-names.ts';
import type { PromptfooProvider } from './provider.ts';
import { ownAddress } from './provider-address.ts';
import { KEEPS_ID, providerParts } from './provider-parts.ts';
import { convertSettings } from './provider-settings.ts';
import { withDefaults } from './sent-settings.ts';
import { callsTransform } from './tools.ts';

/** Providers whose requests take the `config` of a prompt. */
const TAKES_PROMPT_CONFIG =
  /^(?:openai|anthropic|azure(?:openai)?|google|openrouter|github|perplexity|huggingface|hf):/u;

const PROVIDER_KEYS: KnownKeys = {
  known: ['config', 'label', 'delay', 'transform', 'description', 'tags', 'prompts'],
  unsupported: ['env', 'inputs'],
};

/** Reads a provider; undefined with a note if it has no equivalent. */
export function readPromptfooProvider(
  item: YamlValue,
  conversion: Conversion,
  context: Pick<NamedProvider, 'promptConfig' | 'isJudge'> = {},
): PromptfooProvider | undefined {
  const { scalar } = item;
  if (scalar !== undefined) return convertProvider({ id: scalar, at: item, ...context }, conversion);
  const { written, entries } = providerParts(item);
  return readProviderMap(written, entries, { at: item, ...context }, conversion);
}

function readProviderMap(
  id: string,
  entries: ReadonlyMap<string, YamlValue>,
  place: Pick<NamedProvider, 'at' | 'promptConfig' | 'isJudge'>,
  conversion: Conversion,
): PromptfooProvider | undefined {
  conversion.noteKeys(entries, PROVIDER_KEYS, ' of a provider');
  const [config, label, transform] = ['config', 'label', 'transform'].map(key => entries.get(key));
  return convertProvider(
    { id, ...place, config, label: label?.scalar, transform: transform?.scalar },
    conversion,
  );
}

interface NamedProvider {
  readonly id: string;
  readonly at: YamlValue;
  readonly config?: YamlValue | undefined;
  readonly label?: string | undefined;
  readonly transform?: string | undefined;
  /** The settings of the prompt and of all tests. */
  readonly promptConfig?: ReadonlyMap<string, YamlValue> | undefined;
  /** True if it judges answers. */
  readonly isJudge?: boolean;
}

function convertProvider(named: NamedProvider, conversion: Conversion): PromptfooProvider | undefined {
  const leftOutBefore = conversion.leftOut;
  const provider = conversion.isForTest ? withModelOfEnvironment(named, conversion) : named;
  const { id, at, transform, promptConfig } = provider;
  conversion.noteTransform(transform, at);
  const declaredProvider = declareProvider(provider, conversion);
  const [setting] = promptConfig?.values() ?? [];
  if (setting && (declaredProvider || !TAKES_PROMPT_CONFIG.test(id))) {
    conversion.note(setting, `settings of a prompt or of all tests have no equivalent for \`${id}\``);
  }
  if (declaredProvider) {
    const kind = 'program' in declaredProvider.entry ? 'a program' : 'an address';
    const isLeftOut = conversion.noteProgram(at, `the provider \`${id}\` is ${kind}`);
    const transforms = [declaredProvider.transform, transform].filter(code => code !== undefined);
    const composedCode = composedTransform(transforms);
    return {
      ...declaredProvider,
      names: testedNames(provider),
      config: {},
      transform: composedCode,
      at,
      isLeftOut,
    };
  }
  return conversion.leftOut > leftOutBefore ? undefined : convertModel(provider, conversion);
}

/** Returns a provider with the environment variables in the id of its model filled in, which have to be named as such. */
function withModelOfEnvironment(provider: NamedProvider, conversion: Conversion): NamedProvider {
  if (/^(?:https?|file|exec|python):/u.test(provider.id)) return provider;
  const id = provider.id.replaceAll(ENVIRONMENT_TAG, (tag, name: string) =>
    NAMES_MODEL.test(name) && Object.hasOwn(conversion.env, name) ? conversion.env[name] || tag : tag,
  );
  const lacksModel = id.includes('{{') && modelName(id) !== undefined;
  if (lacksModel) {
    conversion.note(provider.at, `the provider \`${id}\` needs a variable with the name of its model`);
  }
  return { ...provider, id };
}

/** Matches variables whose value may be shown: no key is named so. */
const NAMES_MODEL = /^(?!.*(?:KEY|TOKEN|SECRET|PASS|CREDENTIAL)).*(?:MODEL|PROVIDER|GRADER|JUDGE)/iu;

/** Converts a provider that is a model; undefined with a note if we have no such model. */
function convertModel(namedProvider: NamedProvider, conversion: Conversion): PromptfooProvider | undefined {
  const { id, at, config, transform, promptConfig } = namedProvider;
  const model = modelName(id);
  if (model === undefined) {
    conversion.note(at, `the provider \`${id}\` has no equivalent: name a model of promptrun`);
    return undefined;
  }
  const ownSettings = convertSettings({ id }, config && valuesByKey(config, 'config'), conversion);
  const promptSettings = convertSettings({ id }, promptConfig, conversion);
  const output = promptSettings.output ?? ownSettings.output;
  const settings = { ...ownSettings.settings, ...promptSettings.settings };
  const answerTransform = parsesAnswers(id, output) ? PARSED : callsTransform(id, settings);
  const transforms = [conversion.isForTest ? answerTransform : undefined, transform];
  const provider = {
    names: testedNames(namedProvider),
    usesResponses: conversion.isForTest && id.startsWith('openai:responses:'),
    config: withDefaults(id, model, settings),
    output,
    transform: composedTransform(transforms.filter(code => code !== undefined)),
    at,
  };
  const address = ownAddress(id, config, conversion);
  if (!address) return { model, ...provider };
  const isLeftOut = conversion.noteProgram(at, `the provider \`${id}\` is used at ${address.entry.baseUrl}`);
  const nameAtProvider = model.replace(/^[^/]+\//u, '');
  return { model: `${address.name}/${nameAtProvider}`, ...provider, address, isLeftOut };
}

const PARSED = `try { return JSON.parse(output); } catch {}
return output;`;

/** Returns code that runs transforms one after the other. */
function composedTransform(codes: readonly string[]): string | undefined {
  const [first, second] = codes;
  if (first === undefined || second === undefined) return first;
  const [one, other] = [first, second].map(code => (code.includes('\n') ? code : `return ${code}`));
  return `const first = (function (output, context) {
${one}
})(output, context);
return (function (output, context) {
${other}
})(first, context);`;
}

/** Returns the names by which tests refer to a provider: its label, and its id unless only its JavaScript knows it. */
function testedNames({ id, label, at }: NamedProvider): string[] {
  const [, script, name = 'default'] = /^(?:file:\/\/|python:)(.+?\.py)(?::(\w+))?$/u.exec(id) ?? [];
  const isPython = script !== undefined;
  const own = isPython && !at.isMap ? `python:${script}:${name}` : id;
  const isKnown = isPython || KEEPS_ID.test(id);
  return [...(label === undefined ? [] : [label]), ...(isKnown ? [own] : [])];
}
