import { faultAt } from '../../../files/file-fault.ts';
import { isJsonList, type JsonObject, type JsonValue, ownValue } from '../../../files/json.ts';
import type { YamlValue } from '../../../files/yaml.ts';
import { isJsonObject } from '../../../wire/bounded-json.ts';
import { declaredOf } from './declared.ts';
import type { Provider } from './provider.ts';
import { type Conversion, type KnownKeys, valuesOf } from './source.ts';

/** promptfoo's prefixes of models, with ours. */
const PREFIXES: readonly (readonly [theirs: RegExp, ours: string])[] = [
  [
    /^openai:(?:chat:|responses:)?(?!(?:completion|embeddings?|image|moderation|realtime|assistant|speech|transcription|tts|video|agents|codex|chatkit)\b)/u,
    'openai/',
  ],
  [/^anthropic:(?:messages:)?(?!completion\b|claude-agent|claude-code)/u, 'anthropic/'],
  [/^ollama:(?:chat:|completion:)?(?!embeddings?\b)/u, 'ollama/'],
  [/^google:(?!embedding|image|live)/u, 'googleai/'],
  [/^vertex:(?:chat:)?(?!embedding|image)/u, 'vertexai/'],
  [
    /^azure(?:openai)?:(?:chat:|responses:)?(?!embeddings?|completion|assistant|foundry|image|video)/u,
    'azure/',
  ],
  [
    /^bedrock:(?:completion:|converse:)?(?!embeddings?|image|video|nova-sonic|agents|agentcore|kb|opensearch)/u,
    'bedrock/',
  ],
  [/^openrouter:/u, 'openrouter/'],
  [/^groq:/u, 'groq/'],
  [/^mistral:(?!embedding)/u, 'mistral/'],
  [/^deepseek:/u, 'deepseek/'],
  [/^xai:(?!image|video|voice)(?:responses:)?/u, 'xai/'],
  [/^togetherai:(?:chat:)?(?!completion|embedding|image)/u, 'together/'],
  [/^fireworks:/u, 'fireworks/'],
  [/^cerebras:/u, 'cerebras/'],
  [/^github:/u, ''],
];

const SETTINGS: Readonly<Record<string, string>> = {
  max_tokens: 'maxOutputTokens',
  max_completion_tokens: 'maxOutputTokens',
  max_output_tokens: 'maxOutputTokens',
  max_tokens_to_sample: 'maxOutputTokens',
  maxTokens: 'maxOutputTokens',
  num_predict: 'maxOutputTokens',
  top_p: 'topP',
  top_k: 'topK',
  stop: 'stopSequences',
  stop_sequences: 'stopSequences',
  frequency_penalty: 'frequencyPenalty',
  presence_penalty: 'presencePenalty',
  reasoning_effort: 'reasoningEffort',
  service_tier: 'serviceTier',
};

/** Keys of a `config` about addresses, retries or costs, which don't change the request. */
const HARMLESS = [
  'apiKey',
  'apiKeyEnvar',
  'apiKeyRequired',
  'organization',
  'region',
  'projectId',
  'cost',
  'inputCost',
  'outputCost',
  'timeout',
  'timeoutMs',
  'maxRetries',
  'keep_alive',
  'showThinking',
  'user',
  'metadata',
];

/** The defaults of promptfoo for Chat Completions, Messages and Mistral; it sends none to reasoning models. */
const DEFAULTS: JsonObject = { temperature: 0, maxOutputTokens: 1024 };
const SENDS_DEFAULTS =
  /^(?:openai:(?!responses:)|anthropic:|azure|openrouter:|groq:|mistral:|deepseek:|xai:(?!responses:)|togetherai:|fireworks:|cerebras:|github:)/u;
const THINKS = /(?:^|[/:])(?:o[134](?:-|$)|gpt-5)/u;
/** Messages refuses a temperature for these. */
const TAKES_NO_TEMPERATURE = /^claude-(?:opus-4-[7-9]|opus-[5-9]|sonnet-[5-9]|fable|mythos)/u;

function defaultsOf(id: string, model: string): JsonObject {
  if (!SENDS_DEFAULTS.test(id) || THINKS.test(model)) return {};
  const { temperature: _, ...bound } = DEFAULTS;
  return TAKES_NO_TEMPERATURE.test(model.replace(/^.*\//u, '')) ? bound : DEFAULTS;
}

/** Reads the models of a configuration. */
export function providersOf(node: YamlValue | undefined, conversion: Conversion): Provider[] {
  if (!node || node.isEmpty) return [];
  const named = itemsOf(node, conversion).map(item => providerOf(item, conversion));
  const known = new Map<string, Provider>();
  for (const provider of named) {
    if (!provider) continue;
    const { model, config, transform } = provider;
    known.set(JSON.stringify([model, config, transform]), provider);
  }
  return [...known.values()];
}

/** Returns the items of a list of providers, with those of referenced files. */
function itemsOf(node: YamlValue, conversion: Conversion): YamlValue[] {
  const items = isJsonList(node.json()) ? node.items('providers') : [node];
  return items.flatMap(item => {
    const { scalar } = item;
    if (scalar === undefined || !/^file:\/\/.*\.(?:ya?ml|json)$/iu.test(scalar)) return [item];
    return itemsOf(conversion.yaml(scalar, item), conversion);
  });
}

const PROVIDER_KEYS: KnownKeys = {
  known: ['config', 'label', 'delay', 'transform', 'description', 'tags'],
  unsupported: ['prompts', 'env', 'inputs'],
};

/** Reads a provider; undefined with a note if it has no equivalent. */
export function providerOf(item: YamlValue, conversion: Conversion): Provider | undefined {
  const { scalar } = item;
  if (scalar !== undefined) return named({ id: scalar, at: item }, conversion);
  const entries = valuesOf(item, 'a provider');
  const [only] = entries;
  // `{openai:gpt-4o: {config: …}}`
  if (entries.size === 1 && only && only[0] !== 'id') {
    return withKeys(only[0], valuesOf(only[1], only[0]), item, conversion);
  }
  const id = entries.get('id');
  if (!id) throw faultAt(item, 'a provider needs `id`');
  entries.delete('id');
  return withKeys(id.text('id'), entries, item, conversion);
}

function withKeys(
  id: string,
  entries: ReadonlyMap<string, YamlValue>,
  at: YamlValue,
  conversion: Conversion,
): Provider | undefined {
  conversion.noteKeys(entries, PROVIDER_KEYS, ' of a provider');
  const [config, label, transform] = ['config', 'label', 'transform'].map(key => entries.get(key));
  return named({ id, at, config, label: label?.scalar, transform: transform?.scalar }, conversion);
}

interface Written {
  readonly id: string;
  readonly at: YamlValue;
  readonly config?: YamlValue | undefined;
  readonly label?: string | undefined;
  readonly transform?: string | undefined;
}

function named(written: Written, conversion: Conversion): Provider | undefined {
  const { id, at, config, transform } = written;
  const before = conversion.leftOut;
  const declared = declaredOf(written, conversion);
  if (declared) {
    const what = `the provider \`${id}\` is ${'program' in declared.entry ? 'a program' : 'an address'}`;
    const isLeftOut = conversion.noteProgram(at, what);
    return { ...declared, config: {}, transform: transform ?? declared.transform, at, isLeftOut };
  }
  if (conversion.leftOut > before) return undefined;
  const model = modelOf(id);
  if (model === undefined) {
    conversion.note(at, `the provider \`${id}\` has no equivalent: name a model of ours`);
    return undefined;
  }
  const { settings, output } = settingsOf(config, conversion);
  const place = placeOf(id, config);
  const provider = { config: { ...defaultsOf(id, model), ...settings }, output, transform, at };
  if (!place) return { model, ...provider };
  const isLeftOut = conversion.noteProgram(at, `the provider \`${id}\` is asked at another address`);
  return { model: model.replace(/^openai/u, place[0]), ...provider, place, isLeftOut };
}

const ADDRESS_KEYS = ['apiBaseUrl', 'apiHost', 'baseUrl', 'baseURL'];

/** Returns the provider for a models file, if the config sets another address than OpenAI's. */
function placeOf(id: string, config: YamlValue | undefined): Provider['place'] {
  if (!config || !id.startsWith('openai:')) return undefined;
  const entries = valuesOf(config, 'config');
  const [written] = ADDRESS_KEYS.flatMap(key => entries.get(key)?.scalar ?? []);
  if (written === undefined) return undefined;
  const address = /^https?:\/\//u.test(written) ? written : `https://${written}/v1`;
  if (!URL.canParse(address)) return undefined;
  const name = new URL(address).host.replace(/[^a-z\d]+/gu, '-').replace(/^-|-$/gu, '');
  const own = /^\{\{\s*env\.(\w+)\s*\}\}$/u.exec(entries.get('apiKey')?.scalar ?? '')?.[1];
  const apiKeyEnv = entries.get('apiKeyEnvar')?.scalar ?? own;
  return [name, { baseUrl: address, engine: 'openai', ...(apiKeyEnv !== undefined && { apiKeyEnv }) }];
}

function modelOf(id: string): string | undefined {
  if (id === 'echo') return id;
  for (const [theirs, ours] of PREFIXES) {
    const model = id.replace(theirs, '');
    if (model !== id && model !== '') return ours + model;
  }
  return undefined;
}

interface Settings {
  readonly settings: JsonObject;
  readonly output?: JsonObject | undefined;
}

function settingsOf(config: YamlValue | undefined, conversion: Conversion): Settings {
  const settings: Record<string, JsonValue> = {};
  let output: JsonObject | undefined;
  for (const [key, entry] of config ? valuesOf(config, 'config') : []) {
    const ours = Object.hasOwn(SETTINGS, key) ? (SETTINGS[key] ?? key) : key;
    const value = entry.json();
    if (value === null) continue;
    if (conversion.isSetting(ours)) {
      settings[ours] = ours === 'stopSequences' && !isJsonList(value) ? [value] : value;
    } else if (key === 'generationConfig') {
      const inner = settingsOf(entry, conversion);
      Object.assign(settings, inner.settings);
      output ??= inner.output;
    } else if (key === 'reasoning' && typeof ownValue(value, 'effort') === 'string') {
      settings['reasoningEffort'] = ownValue(value, 'effort') ?? null;
    } else if (conversion.isForTest && ADDRESS_KEYS.includes(key)) {
      // Replaces the provider's address, see `placeOf`.
    } else if (FORMATS.includes(key)) {
      const format = outputOf(value);
      if (format === false) conversion.note(entry, `\`${key}\` has no equivalent`);
      else output ??= format;
    } else if (conversion.isForTest && HARMLESS.includes(key)) {
      conversion.tell(entry, `\`${key}\` of a provider's config is left out`);
    } else {
      // Its value may be a key.
      conversion.note(entry, `\`${key}\` of a provider's config has no equivalent`);
    }
  }
  return { settings, output };
}

const FORMATS = ['response_format', 'response_mime_type', 'responseMimeType'];

/** Returns the required answer format; undefined if there is none, false if it can't be expressed. */
function outputOf(format: JsonValue): JsonObject | false | undefined {
  const type = ownValue(format, 'type') ?? format;
  if (type === 'text' || type === 'text/plain') return undefined;
  if (type === 'json_object' || type === 'application/json') return { format: 'json' };
  const schema = ownValue(ownValue(format, 'json_schema') ?? format, 'schema');
  return type === 'json_schema' && isJsonObject(schema) && { format: 'json', schema };
}
