import { faultAt } from '../../../files/file-fault.ts';
import { isJsonList, type JsonObject, type JsonValue, ownValue, textOrNothing } from '../../../files/json.ts';
import type { YamlValue } from '../../../files/yaml.ts';
import { isJsonObject } from '../../../wire/bounded-json.ts';
import { type Conversion, type KnownKeys, valuesByKey } from './conversion.ts';
import { declareProvider } from './declared-provider.ts';
import type { PromptfooProvider } from './provider.ts';

/** Providers that answer like OpenAI, at their addresses. */
const LIKE_OPENAI: readonly {
  readonly prefix: RegExp;
  readonly name: string;
  readonly baseUrl: string;
  readonly apiKeyEnv: string;
}[] = [
  {
    prefix: /^(?:huggingface|hf):chat:/u,
    name: 'huggingface',
    baseUrl: 'https://router.huggingface.co/v1',
    apiKeyEnv: 'HF_TOKEN',
  },
  {
    prefix: /^perplexity:/u,
    name: 'perplexity',
    baseUrl: 'https://api.perplexity.ai',
    apiKeyEnv: 'PERPLEXITY_API_KEY',
  },
];

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
  maxTokenCount: 'maxOutputTokens',
  max_new_tokens: 'maxOutputTokens',
  random_seed: 'seed',
};

/** Keys of a `config` about addresses, credentials, retries or costs, which don't change the request. */
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
  'stream',
  'store',
  'prompt_cache_key',
  'prompt_cache_retention',
  'cache_control',
  'include_reasoning',
  'usage_tier',
  'apiVersion',
  'anthropic_version',
  'accessKeyId',
  'secretAccessKey',
  'sessionToken',
  'profile',
];

/** Providers whose requests take the `config` of a prompt. */
const TAKES_PROMPT_CONFIG =
  /^(?:openai|anthropic|azure|google|openrouter|github|perplexity|huggingface|hf):/u;

/** Providers that send no other keys than those that promptfoo knows. Bedrock's depend on the model. */
const SENDS_KNOWN_KEYS =
  /^(?:echo$|(?:openai|anthropic|ollama|azure|google|openrouter|github|perplexity|huggingface|hf):)/u;
/** Keys of a `config` that promptfoo sends, and that change the answer. */
const CHANGES_ANSWER = new Set([
  'tools',
  'tool_choice',
  'tool_resources',
  'toolConfig',
  'tool_config',
  'functions',
  'function_call',
  'functionToolCallbacks',
  'mcp',
  'passthrough',
  'extra_body',
  'headers',
  'modalities',
  'audio',
  'verbosity',
  'reasoning',
  'thinking',
  'think',
  'effort',
  'output_format',
  'format',
  'system',
  'template',
  'raw',
  'omitDefaults',
  'logit_bias',
  'n',
  'instructions',
  'previous_response_id',
  'conversation',
  'max_tool_calls',
  'parallel_tool_calls',
  'prompt',
  'truncation',
  'background',
  'systemInstruction',
  'systemPrompt',
  'safetySettings',
  'responseSchema',
  'response_schema',
  'useAssistantRole',
  'dataSources',
  'data_sources',
  'deployment_id',
  'context',
  'examples',
  'models',
  'route',
  'provider',
  'transforms',
  'inferenceProvider',
  'chatCompletion',
  'apiEndpoint',
  'guardrailIdentifier',
  'guardrailVersion',
  'additionalModelRequestFields',
  'interfaceConfig',
  'tfs_z',
  'num_ctx',
  'num_keep',
  'num_batch',
  'num_gqa',
  'typical_p',
  'repeat_last_n',
  'repeat_penalty',
  'mirostat',
  'mirostat_tau',
  'mirostat_eta',
  'penalize_newline',
  'rope_frequency_base',
  'rope_frequency_scale',
  'repetition_penalty',
  'min_p',
  'stop_sequence',
  'web_search_options',
  'search_domain_filter',
  'return_citations',
  'beta',
  'betas',
]);

/** Returns true if promptfoo sends this key of a `config`. */
export function isAnswerSetting(key: string, conversion: Conversion): boolean {
  return Object.hasOwn(SETTINGS, key) || conversion.isSetting(key) || CHANGES_ANSWER.has(key);
}

/** The defaults of promptfoo for Chat Completions, Messages and Mistral; it sends none to reasoning models. */
const DEFAULTS: JsonObject = { temperature: 0, maxOutputTokens: 1024 };
const SENDS_DEFAULTS =
  /^(?:openai:(?!responses:)|anthropic:|azure|openrouter:|groq:|mistral:|deepseek:|xai:(?!responses:)|togetherai:|fireworks:|cerebras:|github:|perplexity:|(?:huggingface|hf):chat:)/u;
const THINKS = /(?:^|[/:])(?:o[134](?:-|$)|gpt-5)/u;
/** Messages refuses a temperature for these. */
const TAKES_NO_TEMPERATURE = /^claude-(?:opus-4-[7-9]|opus-[5-9]|sonnet-[5-9]|fable|mythos)/u;

function defaultSettings(id: string, model: string): JsonObject {
  if (!SENDS_DEFAULTS.test(id) || THINKS.test(model)) return {};
  const { temperature: _, ...bound } = DEFAULTS;
  return TAKES_NO_TEMPERATURE.test(model.replace(/^.*\//u, '')) ? bound : DEFAULTS;
}

/** Reads the models of a configuration. @param promptConfig the settings of the prompt and of all tests, which win over theirs */
export function readPromptfooProviders(
  node: YamlValue | undefined,
  conversion: Conversion,
  promptConfig?: ReadonlyMap<string, YamlValue>,
): PromptfooProvider[] {
  if (!node || node.isEmpty) return [];
  const named = providerItems(node, conversion).map(item =>
    readPromptfooProvider(item, conversion, promptConfig),
  );
  const known = new Map<string, PromptfooProvider>();
  for (const provider of named) {
    if (!provider) continue;
    const { model, config, transform } = provider;
    known.set(JSON.stringify([model, config, transform]), provider);
  }
  return [...known.values()];
}

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
  known: ['config', 'label', 'delay', 'transform', 'description', 'tags'],
  unsupported: ['prompts', 'env', 'inputs'],
};

/** Reads a provider; undefined with a note if it has no equivalent. */
export function readPromptfooProvider(
  item: YamlValue,
  conversion: Conversion,
  promptConfig?: ReadonlyMap<string, YamlValue>,
): PromptfooProvider | undefined {
  const { scalar } = item;
  if (scalar !== undefined) return convertProvider({ id: scalar, at: item, promptConfig }, conversion);
  const entries = valuesByKey(item, 'a provider');
  const [only] = entries;
  // `{openai:gpt-4o: {config: …}}`
  if (entries.size === 1 && only && only[0] !== 'id') {
    return readProviderMap(only[0], valuesByKey(only[1], only[0]), { at: item, promptConfig }, conversion);
  }
  const id = entries.get('id');
  if (!id) throw faultAt(item, 'a provider needs `id`');
  entries.delete('id');
  return readProviderMap(id.text('id'), entries, { at: item, promptConfig }, conversion);
}

function readProviderMap(
  id: string,
  entries: ReadonlyMap<string, YamlValue>,
  place: Pick<NamedProvider, 'at' | 'promptConfig'>,
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
}

function convertProvider(written: NamedProvider, conversion: Conversion): PromptfooProvider | undefined {
  const { id, at, config, transform, promptConfig } = written;
  const before = conversion.leftOut;
  const declared = declareProvider(written, conversion);
  const [setting] = promptConfig?.values() ?? [];
  if (setting && (declared || !TAKES_PROMPT_CONFIG.test(id))) {
    conversion.note(setting, `settings of a prompt or of all tests have no equivalent for \`${id}\``);
  }
  if (declared) {
    const what = `the provider \`${id}\` is ${'program' in declared.entry ? 'a program' : 'an address'}`;
    const isLeftOut = conversion.noteProgram(at, what);
    return { ...declared, config: {}, transform: transform ?? declared.transform, at, isLeftOut };
  }
  if (conversion.leftOut > before) return undefined;
  const model = modelName(id);
  if (model === undefined) {
    conversion.note(at, `the provider \`${id}\` has no equivalent: name a model of ours`);
    return undefined;
  }
  const own = convertSettings(id, config && valuesByKey(config, 'config'), conversion);
  const ofPrompt = convertSettings(id, promptConfig, conversion);
  const settings = { ...own.settings, ...ofPrompt.settings };
  const output = ofPrompt.output ?? own.output;
  const place = ownAddress(id, config);
  const provider = { config: { ...defaultSettings(id, model), ...settings }, output, transform, at };
  if (!place) return { model, ...provider };
  const isLeftOut = conversion.noteProgram(
    at,
    `the provider \`${id}\` is asked at ${textOrNothing(place[1]['baseUrl'])}`,
  );
  return { model: `${place[0]}/${model.replace(/^[^/]+\//u, '')}`, ...provider, place, isLeftOut };
}

const ADDRESS_KEYS = ['apiBaseUrl', 'apiHost', 'baseUrl', 'baseURL'];

/** Providers of which a `config` may set the address. */
const ADDRESSED: readonly {
  readonly prefix: RegExp;
  readonly engine: string;
  /** The address of the provider itself, if it has one for everybody. */
  readonly own?: string;
  /** The path of an address that is only a host; promptfoo adds Azure's to every address. */
  readonly path: string;
  readonly apiKeyEnv?: string;
}[] = [
  { prefix: /^openai:/u, engine: 'openai', own: 'https://api.openai.com/v1', path: '/v1' },
  { prefix: /^openrouter:/u, engine: 'openai', own: 'https://openrouter.ai/api/v1', path: '/v1' },
  {
    prefix: /^azure(?:openai)?:/u,
    engine: 'azure',
    path: '/openai/v1',
    apiKeyEnv: 'AZURE_API_KEY',
  },
];

/** Returns the provider for a models file, if its address is none of ours. */
function ownAddress(id: string, config: YamlValue | undefined): PromptfooProvider['place'] {
  const like = LIKE_OPENAI.find(({ prefix }) => prefix.test(id));
  if (like) {
    const { name, baseUrl, apiKeyEnv } = like;
    return [name, { baseUrl, engine: 'openai', apiKeyEnv }];
  }
  const provider = ADDRESSED.find(({ prefix }) => prefix.test(id));
  if (!config || !provider) return undefined;
  const { engine, own, path } = provider;
  const entries = valuesByKey(config, 'config');
  const [written] = ADDRESS_KEYS.flatMap(key => entries.get(key)?.scalar ?? []);
  if (written === undefined) return undefined;
  const plain = written.replace(/\/$/u, '');
  const hasScheme = /^https?:\/\//u.test(plain);
  const isWhole = hasScheme && (engine !== 'azure' || plain.endsWith(path));
  const address = `${hasScheme ? '' : 'https://'}${plain}${isWhole ? '' : path}`;
  if (!URL.canParse(address) || address === own) return undefined;
  const name = new URL(address).host.replace(/[^a-z\d]+/gu, '-').replace(/^-|-$/gu, '');
  const variable = /^\{\{\s*env\.(\w+)\s*\}\}$/u.exec(entries.get('apiKey')?.scalar ?? '')?.[1];
  const apiKeyEnv = entries.get('apiKeyEnvar')?.scalar ?? variable ?? provider.apiKeyEnv;
  return [name, { baseUrl: address, engine, ...(apiKeyEnv !== undefined && { apiKeyEnv }) }];
}

function modelName(id: string): string | undefined {
  if (id === 'echo') return id;
  const like = LIKE_OPENAI.find(({ prefix }) => prefix.test(id));
  if (like) return id === '' ? undefined : id.replace(like.prefix, `${like.name}/`);
  for (const [theirs, ours] of PREFIXES) {
    const model = id.replace(theirs, '');
    if (model !== id && model !== '') return ours + model;
  }
  return undefined;
}

interface ConvertedSettings {
  readonly settings: JsonObject;
  readonly output?: JsonObject | undefined;
}

/** Converts a `config`. @param isSentWhole true if promptfoo sends all its keys, known or not */
function convertSettings(
  id: string,
  config: ReadonlyMap<string, YamlValue> | undefined,
  conversion: Conversion,
  isSentWhole = false,
): ConvertedSettings {
  const settings: Record<string, JsonValue> = {};
  let output: JsonObject | undefined;
  for (const [key, entry] of config ?? []) {
    const ours = Object.hasOwn(SETTINGS, key) ? (SETTINGS[key] ?? key) : key;
    const value = entry.json();
    if (value === null) continue;
    if (conversion.isSetting(ours)) {
      settings[ours] = ours === 'stopSequences' && !isJsonList(value) ? [value] : value;
    } else if (NESTED.includes(key)) {
      const inner = convertSettings(id, valuesByKey(entry, key), conversion, true);
      Object.assign(settings, inner.settings);
      output ??= inner.output;
    } else if (key === 'reasoning' && typeof ownValue(value, 'effort') === 'string') {
      settings['reasoningEffort'] = ownValue(value, 'effort') ?? null;
    } else if (conversion.isForTest && ADDRESS_KEYS.includes(key)) {
      // promptfoo takes no address for Ollama from here.
      const isTaken = id.startsWith('ollama:') || ADDRESSED.some(({ prefix }) => prefix.test(id));
      if (!isTaken) conversion.note(entry, `\`${key}\` of a provider's config has no equivalent`);
    } else if (FORMATS.includes(key)) {
      const format = answerFormat(value);
      if (format === false) conversion.note(entry, `\`${key}\` has no equivalent`);
      else output ??= format;
    } else if (
      conversion.isForTest &&
      !isSentWhole &&
      SENDS_KNOWN_KEYS.test(id) &&
      !CHANGES_ANSWER.has(key) &&
      !HARMLESS.includes(key)
    ) {
      conversion.tell(entry, `\`${key}\` of a provider's config is a key that promptfoo ignores too`);
    } else if (conversion.isForTest && HARMLESS.includes(key)) {
      conversion.tell(entry, `\`${key}\` of a provider's config is left out`);
    } else {
      // Its value may be a key.
      conversion.note(entry, `\`${key}\` of a provider's config has no equivalent`);
    }
  }
  return { settings, output };
}

/** Keys that hold settings of their own. */
const NESTED = ['generationConfig', 'textGenerationConfig', 'inferenceConfig'];

const FORMATS = ['response_format', 'response_mime_type', 'responseMimeType'];

/** Returns the required answer format; undefined if there is none, false if it can't be expressed. */
function answerFormat(format: JsonValue): JsonObject | false | undefined {
  const type = ownValue(format, 'type') ?? format;
  if (type === 'text' || type === 'text/plain') return undefined;
  if (type === 'json_object' || type === 'application/json') return { format: 'json' };
  const schema = ownValue(ownValue(format, 'json_schema') ?? format, 'schema');
  return type === 'json_schema' && isJsonObject(schema) && { format: 'json', schema };
}
