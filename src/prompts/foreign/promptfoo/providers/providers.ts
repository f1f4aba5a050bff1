import { faultAt } from '../../../../files/file-fault.ts';
import { isJsonList } from '../../../../files/json.ts';
import type { YamlValue } from '../../../../files/yaml.ts';
import { type Conversion, type KnownKeys, valuesByKey } from '../conversion.ts';
import { includesPrompt, type PromptNames, readReferences } from '../prompt-references.ts';
import { parsesAnswers } from './answer-format.ts';
import { declareProvider } from './declared-provider.ts';
import { ENVIRONMENT_TAG } from './entry-placeholders.ts';
import { modelName } from './model-names.ts';
import type { PromptfooProvider } from './provider.ts';
import { ownAddress } from './provider-address.ts';
import { convertSettings } from './provider-settings.ts';
import { withDefaults } from './sent-settings.ts';
import { callsTransform } from './tools.ts';

/** Providers whose requests take the `config` of a prompt. */
const TAKES_PROMPT_CONFIG =
  /^(?:openai|anthropic|azure(?:openai)?|google|openrouter|github|perplexity|huggingface|hf):/u;

/** Reads the models of a configuration. @param promptConfig the settings of the prompt and of all tests, which win over theirs */
export function readPromptfooProviders(
  node: YamlValue | undefined,
  prompts: {
    readonly all: readonly PromptNames[];
    readonly chosen: PromptNames & { readonly readsLabel?: boolean };
  },
  conversion: Conversion,
  promptConfig?: ReadonlyMap<string, YamlValue>,
): PromptfooProvider[] {
  if (!node || node.isEmpty) return [];
  const items = providerItems(node, conversion);
  const listed = promptsByProvider(items);
  const known = new Map<string, PromptfooProvider>();
  for (const item of items) {
    const provider = readPromptfooProvider(item, conversion, { promptConfig });
    const isAsked = includesPrompt(referencesOf(item, listed, prompts.all, conversion), prompts.chosen);
    if (!conversion.isForTest) tellOfPrompts(item, conversion);
    if (!provider) continue;
    const label = prompts.chosen.readsLabel ? (writtenParts(item).label ?? '') : undefined;
    const key = JSON.stringify([providerKey({ ...provider, label }), isAsked]);
    const names = [...(known.get(key)?.names ?? []), ...provider.names];
    known.set(key, { ...provider, names, label, isAsked });
  }
  return [...known.values()];
}

/** Remembers the providers to which a judge can refer: promptfoo takes the last of equal ids, and labels only if no id is equal. */
export function nameProviders(node: YamlValue | undefined, conversion: Conversion): void {
  if (!node || node.isEmpty || !conversion.isForTest) return;
  const { namedProviders } = conversion;
  const items = providerItems(node, conversion).filter(item => item.scalar === undefined);
  for (const item of items) {
    const { id } = providerParts(item);
    if (KEEPS_ID.test(id)) namedProviders.set(id, item);
  }
  for (const item of items) {
    const { label } = providerParts(item);
    if (label !== undefined && !namedProviders.has(label)) namedProviders.set(label, item);
  }
}

/** Returns a key that two providers share if they get the same requests and their answers are read alike. */
export function providerKey({
  model,
  config,
  output,
  transform,
  label,
  usesResponses = false,
}: PromptfooProvider): string {
  return JSON.stringify([model, config, output, transform, label, usesResponses]);
}

/** Returns true if a provider's answer format differs from that of the configuration's first. */
export function hasOtherOutput(
  { output, entry }: PromptfooProvider,
  first: PromptfooProvider | undefined,
): boolean {
  return !entry && JSON.stringify(output) !== JSON.stringify(first?.output);
}

export const OTHER_OUTPUT = 'an answer format other than that of the first provider has no equivalent';

/** Notes that a test file has no place for the prompts of a provider: it is written for one prompt. */
function tellOfPrompts(item: YamlValue, conversion: Conversion): void {
  const listed = item.scalar === undefined ? providerParts(item).entries.get('prompts') : undefined;
  if (listed === undefined) return;
  const { id } = providerParts(item);
  conversion.tell(
    listed,
    `\`prompts\` of the provider \`${id}\` has no equivalent: the test file names the models that are asked with its prompt`,
  );
}

/** Returns the references to prompts by the provider's id and label. promptfoo takes the last of equal names. */
function promptsByProvider(items: readonly YamlValue[]): Map<string, readonly string[] | undefined> {
  const listed = new Map<string, readonly string[] | undefined>();
  for (const item of items) {
    if (item.scalar !== undefined) continue;
    const { id, label, isById, entries } = providerParts(item);
    const references = readReferences(entries.get('prompts'));
    listed.set(id, references);
    if (label !== undefined && isById) listed.set(label, references);
  }
  return listed;
}

/** Returns the references to the prompts of a provider; undefined for every prompt. Notes those to no prompt. */
function referencesOf(
  item: YamlValue,
  listed: ReadonlyMap<string, readonly string[] | undefined>,
  prompts: readonly PromptNames[],
  conversion: Conversion,
): readonly string[] | undefined {
  const { id, written, label } = writtenParts(item);
  const references = listed.get(label ?? id);
  if (references === undefined) return undefined;
  if (label === undefined && !KEEPS_ID.test(written)) {
    conversion.note(item, `\`prompts\` of the provider \`${id}\` has no equivalent: it has no \`label\``);
    return [];
  }
  if (!prompts.some(prompt => includesPrompt(references, prompt))) {
    conversion.note(item, `\`prompts\` of the provider \`${id}\` names none of the prompts`);
  }
  return references;
}

function writtenParts(item: YamlValue): ReturnType<typeof providerParts> {
  return item.scalar === undefined ? providerParts(item) : providerNamed(item.scalar);
}

/** Returns the names by which tests refer to a provider: its label, and its id unless only its JavaScript knows it. */
function namesOf({ id, label, at }: NamedProvider): string[] {
  const [, script, name = 'default'] = /^(?:file:\/\/|python:)(.+?\.py)(?::(\w+))?$/u.exec(id) ?? [];
  const isPython = script !== undefined;
  const own = isPython && !at.isMap ? `python:${script}:${name}` : id;
  const isKnown = isPython || KEEPS_ID.test(id);
  return [...(label === undefined ? [] : [label]), ...(isKnown ? [own] : [])];
}

/** Matches providers that keep the id of the configuration. All others choose their own when promptfoo loads them. */
const KEEPS_ID =
  /^(?:openai|anthropic|azure(?:openai)?|google|vertex|ollama|openrouter|mistral|groq|bedrock|replicate|huggingface|deepseek|xai|github|exec|python):|^echo$/u;

/** Returns the items of a list of providers, with those of referenced files. */
function providerItems(node: YamlValue, conversion: Conversion): YamlValue[] {
  const items = isJsonList(node.json()) ? node.items('providers') : [node];
  return items.flatMap(item => {
    const { scalar } = item;
    if (scalar === undefined || !/^file:\/\/.*\.(?:ya?ml|json)$/iu.test(scalar)) return [item];
    return providerItems(conversion.yaml(scalar, item), conversion);
  });
}

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

/** The parts of a provider that is a map. */
interface ProviderParts {
  /** The id that chooses the provider. */
  readonly written: string;
  /** The id that the provider has then. */
  readonly id: string;
  readonly label: string | undefined;
  /** True unless its id is a key: `{openai:gpt-4o: {config: …}}`. */
  readonly isById: boolean;
  readonly entries: ReadonlyMap<string, YamlValue>;
}

function providerNamed(id: string): ProviderParts {
  return { written: id, id, label: undefined, isById: true, entries: new Map() };
}

function providerParts(item: YamlValue): ProviderParts {
  const entries = valuesByKey(item, 'a provider');
  const [only] = entries;
  const isById = entries.size !== 1 || !only || only[0] === 'id';
  const inner = isById ? entries : valuesByKey(only[1], only[0]);
  const own = inner.get('id')?.text('id');
  const written = isById ? own : only[0];
  if (written === undefined) throw faultAt(item, 'a provider needs `id`');
  inner.delete('id');
  return { written, id: own ?? written, label: inner.get('label')?.scalar, isById, entries: inner };
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
  const before = conversion.leftOut;
  const written = conversion.isForTest ? withModelOfEnvironment(named, conversion) : named;
  const { id, at, transform, promptConfig } = written;
  conversion.noteTransform(transform, at);
  const declared = declareProvider(written, conversion);
  const [setting] = promptConfig?.values() ?? [];
  if (setting && (declared || !TAKES_PROMPT_CONFIG.test(id))) {
    conversion.note(setting, `settings of a prompt or of all tests have no equivalent for \`${id}\``);
  }
  if (declared) {
    const kind = 'program' in declared.entry ? 'a program' : 'an address';
    const isLeftOut = conversion.noteProgram(at, `the provider \`${id}\` is ${kind}`);
    const transforms = [declared.transform, transform].filter(code => code !== undefined);
    const composed = composedTransform(transforms);
    return { ...declared, names: namesOf(written), config: {}, transform: composed, at, isLeftOut };
  }
  return conversion.leftOut > before ? undefined : convertModel(written, conversion);
}

/** Returns a provider with the environment variables in the id of its model filled in, which have to be named as such. */
function withModelOfEnvironment(named: NamedProvider, conversion: Conversion): NamedProvider {
  if (/^(?:https?|file|exec|python):/u.test(named.id)) return named;
  const id = named.id.replaceAll(ENVIRONMENT_TAG, (tag, name: string) =>
    NAMES_MODEL.test(name) && Object.hasOwn(conversion.env, name) ? conversion.env[name] || tag : tag,
  );
  const lacksModel = id.includes('{{') && modelName(id) !== undefined;
  if (lacksModel) {
    conversion.note(named.at, `the provider \`${id}\` needs a variable with the name of its model`);
  }
  return { ...named, id };
}

/** Matches variables whose value may be shown: no key is named so. */
const NAMES_MODEL = /^(?!.*(?:KEY|TOKEN|SECRET|PASS|CREDENTIAL)).*(?:MODEL|PROVIDER|GRADER|JUDGE)/iu;

/** Converts a provider that is a model; undefined with a note if we have no such model. */
function convertModel(written: NamedProvider, conversion: Conversion): PromptfooProvider | undefined {
  const { id, at, config, transform, promptConfig } = written;
  const model = modelName(id);
  if (model === undefined) {
    conversion.note(at, `the provider \`${id}\` has no equivalent: name a model of ours`);
    return undefined;
  }
  const own = convertSettings({ id }, config && valuesByKey(config, 'config'), conversion);
  const ofPrompt = convertSettings({ id }, promptConfig, conversion);
  const output = ofPrompt.output ?? own.output;
  const settings = { ...own.settings, ...ofPrompt.settings };
  const parsed = parsesAnswers(id, output) ? PARSED : callsTransform(id, settings);
  const transforms = [conversion.isForTest ? parsed : undefined, transform];
  const provider = {
    names: namesOf(written),
    usesResponses: conversion.isForTest && id.startsWith('openai:responses:'),
    config: withDefaults(id, model, settings),
    output,
    transform: composedTransform(transforms.filter(code => code !== undefined)),
    at,
  };
  const address = ownAddress(id, config, conversion);
  if (!address) return { model, ...provider };
  const isLeftOut = conversion.noteProgram(at, `the provider \`${id}\` is asked at ${address.entry.baseUrl}`);
  const nameAtProvider = model.replace(/^[^/]+\//u, '');
  return { model: `${address.name}/${nameAtProvider}`, ...provider, address, isLeftOut };
}

/** Parses an answer that is JSON. */
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
