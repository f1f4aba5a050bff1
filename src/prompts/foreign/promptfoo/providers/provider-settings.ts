import { isJsonList, type JsonObject, type JsonValue, ownValue } from '../../../../files/json.ts';
import { textOrNothing } from '../../../../files/json-fields.ts';
import type { YamlValue } from '../../../../files/yaml.ts';
import { isJsonObject } from '../../../../wire/bounded-json.ts';
import { type Conversion, valuesByKey } from '../conversion.ts';
import { ADDRESS_KEYS, takesAddress } from './provider-address.ts';

/** promptfoo's names of settings, with ours. */
const RENAMED_SETTINGS: Readonly<Record<string, string>> = {
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

/** Providers that send no other keys than those that promptfoo knows. Bedrock's depend on the model. */
const SENDS_KNOWN_KEYS =
  /^(?:echo$|(?:openai|anthropic|ollama|azure(?:openai)?|google|openrouter|github|perplexity|huggingface|hf|groq|deepseek|xai|mistral):)/u;
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
  'thinkingConfig',
  'isReasoningModel',
  'o1',
  'isClaudeOpus47OrLater',
  'safe_prompt',
  'prompt_mode',
  'prediction',
  'guardrails',
  'search_parameters',
  'search_settings',
  'compound_custom',
  'reasoning_format',
]);

/** Returns true if promptfoo sends this key of a `config`. */
export function isAnswerSetting(key: string, conversion: Conversion): boolean {
  return (
    Object.hasOwn(RENAMED_SETTINGS, key) ||
    conversion.isSetting(key) ||
    CHANGES_ANSWER.has(key) ||
    RESPONSE_FORMAT_KEYS.includes(key)
  );
}

/** The defaults of promptfoo for OpenAI's interfaces and Messages; it sends none to reasoning models. */
const DEFAULTS: JsonObject = { temperature: 0, maxOutputTokens: 1024 };
const SENDS_DEFAULTS =
  /^(?:openai:|anthropic:|azure|openrouter:|groq:|mistral:|deepseek:|xai:(?!responses:)|togetherai:|fireworks:|cerebras:|github:|perplexity:|(?:huggingface|hf):chat:)/u;
const THINKS = /(?:^|[/:])(?:o[134](?:-|$)|gpt-5|codex-mini)/u;
/** Matches the deployments of Azure that promptfoo takes for reasoning models. */
const AZURE_THINKS =
  /^(?:o[134]|gpt-5)|-(?:o[134]|gpt-5)|deepseek[-_]r1|phi-4-(?:mini-)?reasoning|mai-(?:thinking|ds-r1|reasoning)|^grok-.{0,99}reasoning/iu;
/** Matches reasoning models that promptfoo sends a temperature, but no `max_tokens`. */
const THINKS_WITH_TEMPERATURE =
  /^(?:groq:(?!responses:).*(?:gpt-oss|qwen)|xai:grok-(?:3-mini|(?:4|build|code-fast|latest)(?!.*non-reasoning)))/u;
/** The defaults of promptfoo for Mistral. */
const MISTRAL_DEFAULTS: JsonObject = { topP: 1, maxOutputTokens: 1024 };
/** The defaults of promptfoo for reasoning deployments of Azure in Chat Completions. */
const AZURE_REASONING: JsonObject = { reasoningEffort: 'medium', maxOutputTokens: 1024 };
/** Messages refuses a temperature for these. */
const TAKES_NO_TEMPERATURE = /^claude-(?:opus-4-[7-9]|opus-[5-9]|sonnet-[5-9]|fable|mythos)/u;

/** Returns settings with the defaults of promptfoo, which sends Messages no temperature beside `top_p`. */
export function withDefaults(id: string, model: string, settings: JsonObject): JsonObject {
  const { temperature, ...others } = { ...defaultSettings(id, model), ...settings };
  const hasTemperature = temperature !== undefined && !(id.startsWith('anthropic:') && 'topP' in others);
  return { ...(hasTemperature && { temperature }), ...others };
}

function defaultSettings(id: string, model: string): JsonObject {
  const { deployment, isResponses = false } = azureDeployment(id) ?? {};
  if (deployment !== undefined && AZURE_THINKS.test(deployment)) return isResponses ? {} : AZURE_REASONING;
  if (!SENDS_DEFAULTS.test(id) || THINKS.test(model)) return {};
  if (id.startsWith('mistral:')) return MISTRAL_DEFAULTS;
  const { temperature: _, ...bound } = DEFAULTS;
  if (THINKS_WITH_TEMPERATURE.test(id)) return { temperature: 0 };
  return TAKES_NO_TEMPERATURE.test(model.replace(/^.*\//u, '')) ? bound : DEFAULTS;
}

function azureDeployment(id: string): { deployment: string; isResponses: boolean } | undefined {
  const { groups } = /^azure(?:openai)?:(?:(?<kind>chat|responses):)?(?<deployment>.*)$/u.exec(id) ?? {};
  return groups && { deployment: groups['deployment'] ?? '', isResponses: groups['kind'] === 'responses' };
}

const CHAT_SETTINGS = [
  'temperature',
  'max_tokens',
  'top_p',
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
];
const REASONING = ['max_completion_tokens', 'reasoning_effort'];
const RESPONSES_SETTINGS = ['temperature', 'max_output_tokens', 'top_p', 'reasoning_effort'];
const MESSAGES_SETTINGS = ['temperature', 'max_tokens', 'top_p', 'top_k', 'stop_sequences'];
const GEMINI_SETTINGS = ['temperature', 'maxOutputTokens', 'topP', 'topK', 'stopSequences'];

const PENALTY_SETTINGS = ['frequency_penalty', 'presence_penalty'];
const MISTRAL = [
  'temperature',
  'max_tokens',
  'top_p',
  'stop',
  'random_seed',
  'reasoning_effort',
  ...PENALTY_SETTINGS,
];
const OLLAMA = ['temperature', 'num_predict', 'top_p', 'top_k', 'stop', 'seed', ...PENALTY_SETTINGS];
/** Providers that promptfoo asks as it asks OpenAI's Chat Completions. */
const LIKE_CHAT =
  /^(?:openrouter|groq|deepseek|xai|perplexity|github|(?:huggingface|hf):chat):(?!responses:)/u;

/** Returns the settings that promptfoo sends to a model of the providers that get only some; undefined for others, which get all. */
function sentSettings(id: string): readonly string[] | undefined {
  if (id.startsWith('anthropic:')) return MESSAGES_SETTINGS;
  if (id.startsWith('google:')) return GEMINI_SETTINGS;
  if (id.startsWith('mistral:')) return MISTRAL;
  if (id.startsWith('ollama:')) return OLLAMA;
  if (THINKS_WITH_TEMPERATURE.test(id)) {
    return [...CHAT_SETTINGS, ...REASONING].filter(key => key !== 'max_tokens' && !isDroppedByGrok(id, key));
  }
  const azure = azureDeployment(id);
  if (!azure && !id.startsWith('openai:') && !LIKE_CHAT.test(id)) return undefined;
  const isReasoning = azure ? AZURE_THINKS.test(azure.deployment) : THINKS.test(id);
  const unsentByOthers = /gpt-oss/u.test(id) ? ['max_completion_tokens'] : REASONING;
  const unsent = isReasoning ? ['temperature', ...(azure ? [] : ['max_tokens'])] : unsentByOthers;
  const isResponses = azure?.isResponses ?? id.startsWith('openai:responses:');
  const ofHuggingFace = /^(?:huggingface|hf):/u.test(id) ? ['max_new_tokens'] : [];
  const sent = isResponses ? RESPONSES_SETTINGS : [...CHAT_SETTINGS, ...REASONING, ...ofHuggingFace];
  return sent.filter(key => !unsent.includes(key));
}

/** Returns true if promptfoo drops a setting that a model of xAI refuses. */
function isDroppedByGrok(id: string, key: string): boolean {
  if (key === 'reasoning_effort') return /^xai:(?!grok-(?:3-mini|4\.[35]|build-latest|latest))/u.test(id);
  return /^xai:grok-(?:4|build-latest|latest)/u.test(id) && ['stop', ...PENALTY_SETTINGS].includes(key);
}

/** Returns true if promptfoo doesn't send a setting of a `config` to a model. */
function isUnsent({ id, isSentWhole = false }: ConfigSource, key: string): boolean {
  if (isSentWhole || key === 'service_tier') return false;
  if (key === 'thinkingConfig') return true;
  // Chat Completions gets it for the o series only.
  if (key === 'reasoning') return /^openai:(?!responses:)(?!(?:.*[/:])?o[134])/u.test(id);
  return sentSettings(id)?.includes(key) === false;
}

/** Returns the effort in Google's `thinkingConfig`; undefined if it can't be expressed. */
function thinkingEffort(id: string, thinking: JsonValue): JsonObject | undefined {
  if (!isJsonObject(thinking)) return undefined;
  const { thinkingBudget: budget, thinkingLevel: level, ...others } = thinking;
  if (Object.keys(others).length > 0) return undefined;
  if (typeof level === 'string' && budget === undefined) return { reasoningEffort: level.toLowerCase() };
  // -1 lets the model decide, as all but the smallest do anyway.
  if (budget === -1 && level === undefined && !/flash-lite/u.test(id)) return {};
  const canStop = /gemini-2\.5-flash/u.test(id);
  return budget === 0 && level === undefined && canStop ? { reasoningEffort: 'none' } : undefined;
}

/** A converted `config`. */
interface ConvertedSettings {
  readonly settings: JsonObject;
  readonly output?: JsonObject | undefined;
}

/** The `config` of a provider. */
interface ConfigSource {
  /** The id of the provider. */
  readonly id: string;
  /** True if promptfoo sends all its keys, known or not. */
  readonly isSentWhole?: boolean;
}

/** Converts a `config`; notes what has no equivalent. */
export function convertSettings(
  source: ConfigSource,
  config: ReadonlyMap<string, YamlValue> | undefined,
  conversion: Conversion,
): ConvertedSettings {
  const all: JsonObject[] = [];
  let output: JsonObject | undefined;
  for (const [key, entry] of [...(config ?? [])].toSorted(passthroughLast)) {
    if (entry.json() === null) continue;
    const converted = convertSetting(source, key, entry, conversion);
    all.push(converted.settings ?? {});
    output ??= converted.output;
  }
  return { settings: Object.assign({}, ...all) as JsonObject, output };
}

function passthroughLast([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return Number(one === 'passthrough') - Number(other === 'passthrough');
}

function convertSetting(
  source: ConfigSource,
  key: string,
  entry: YamlValue,
  conversion: Conversion,
): Partial<ConvertedSettings> {
  const isSetting = conversion.isSetting(ownName(key)) || ['thinkingConfig', 'reasoning'].includes(key);
  if (conversion.isForTest && isSetting && isUnsent(source, key)) {
    conversion.tell(entry, `\`${key}\` of a provider's config is not sent to this model by promptfoo either`);
    return {};
  }
  if (NESTED.includes(key) || (key === 'passthrough' && SENDS_PASSTHROUGH.test(source.id))) {
    return convertSettings({ ...source, isSentWhole: true }, valuesByKey(entry, key), conversion);
  }
  const settings = ownSettings(source.id, key, entry.json(), conversion);
  if (settings) return { settings };
  if (RESPONSE_FORMAT_KEYS.includes(key) && (!conversion.isForTest || readsFormat(source.id, key))) {
    const format = answerFormat(entry.json());
    if (format === undefined) conversion.note(entry, `\`${key}\` has no equivalent`);
    return typeof format === 'object' ? { output: format } : {};
  }
  noteLostSetting(source, key, entry, conversion);
  return {};
}

/** Returns our name of a setting; a name that promptfoo doesn't have stays. */
function ownName(key: string): string {
  return Object.hasOwn(RENAMED_SETTINGS, key) ? (RENAMED_SETTINGS[key] ?? key) : key;
}

/** Returns our settings for a key of a `config`; undefined if it is not a setting. */
function ownSettings(
  id: string,
  key: string,
  value: JsonValue,
  conversion: Conversion,
): JsonObject | undefined {
  if (key === 'thinkingConfig') return thinkingEffort(id, value);
  const name = ownName(key);
  if (conversion.isSetting(name)) {
    return { [name]: name === 'stopSequences' && !isJsonList(value) ? [value] : value };
  }
  const effort = key === 'reasoning' ? ownValue(value, 'effort') : undefined;
  return typeof effort === 'string' ? { reasoningEffort: effort } : undefined;
}

/** Notes a key that is not converted, unless a test needs nothing of it. */
function noteLostSetting(source: ConfigSource, key: string, entry: YamlValue, conversion: Conversion): void {
  const setting = `\`${key}\` of a provider's config`;
  if (conversion.isForTest) {
    if (isCovered(source.id, key, entry.json())) return;
    if (HARMLESS.includes(key)) {
      conversion.tell(entry, `${setting} is left out`);
      return;
    }
    if (isIgnoredSetting(source, key)) {
      conversion.tell(entry, `${setting} is a key that promptfoo ignores too`);
      return;
    }
  }
  // The note leaves out the value, which may be a key.
  conversion.note(entry, `${setting} has no equivalent`);
}

/** Returns true for a key that changes no request, or that other parts of the conversion take into account. */
function isCovered(id: string, key: string, value: JsonValue): boolean {
  if (ADDRESS_KEYS.includes(key)) return takesAddress(id);
  if (key === 'headers') return changesNothing(value);
  const deployment = azureDeployment(id)?.deployment;
  if (!['isReasoningModel', 'o1'].includes(key) || deployment === undefined) return false;
  return value === false || AZURE_THINKS.test(deployment);
}

/** Returns true if promptfoo neither sends a key nor changes its answer for it. */
function isIgnoredSetting({ id, isSentWhole = false }: ConfigSource, key: string): boolean {
  if (key === 'apiBaseUrl' && AT_ONE_ADDRESS.test(id)) return true;
  if (isSentWhole || ADDRESS_KEYS.includes(key)) return false;
  if (key === 'system' && SENDS_NO_SYSTEM.test(id)) return true;
  return SENDS_KNOWN_KEYS.test(id) && !CHANGES_ANSWER.has(key);
}

/** Providers that promptfoo asks at their own address, whatever a `config` says. */
const AT_ONE_ADDRESS = /^(?:deepseek|groq|xai):/u;

/** Providers to which promptfoo never sends the `system` of a `config`. */
const SENDS_NO_SYSTEM = /^(?:anthropic|openai|openrouter):/u;

/** Keys that hold settings of their own. */
const NESTED = ['generationConfig', 'textGenerationConfig', 'inferenceConfig'];

/** Providers whose requests take every key of `passthrough`, which wins over the others. */
const SENDS_PASSTHROUGH =
  /^(?:openai|azure(?:openai)?|openrouter|groq|deepseek|xai|perplexity|github|(?:huggingface|hf):chat):/u;

const RESPONSE_FORMAT_KEYS = ['response_format', 'response_mime_type', 'responseMimeType'];

/** Returns true if promptfoo reads the format of answers from this key for a provider. */
function readsFormat(id: string, key: string): boolean {
  const isGoogle = /^(?:google|vertex):/u.test(id);
  return key === 'response_format'
    ? !isGoogle && !/^(?:anthropic|ollama|bedrock|echo)\b/u.test(id)
    : isGoogle;
}

/** Returns true if promptfoo parses the answers of a provider in this format. */
export function parsesAnswers(id: string, format: JsonObject | undefined): boolean {
  if (format?.['format'] !== 'json' || id.startsWith('mistral:')) return false;
  return 'schema' in format || azureDeployment(id)?.isResponses === false;
}

/** Returns true if headers only name the application that asks, or JSON, which is sent anyway. */
function changesNothing(headers: JsonValue): boolean {
  const pairs = isJsonObject(headers) ? Object.entries(headers) : [['', '']];
  return pairs.every(([name = '', value]) =>
    /^(?:content-type|accept)$/iu.test(name)
      ? /^application\/json\b/iu.test(textOrNothing(value))
      : /^(?:http-referer|referer|x-title|user-agent)$/iu.test(name),
  );
}

/** Returns the required answer format; undefined if it can't be expressed. */
function answerFormat(format: JsonValue): JsonObject | 'text' | undefined {
  const type = ownValue(format, 'type') ?? format;
  if (type === 'text' || type === 'text/plain') return 'text';
  if (type === 'json_object' || type === 'application/json') return { format: 'json' };
  const schema = ownValue(ownValue(format, 'json_schema') ?? format, 'schema');
  return type === 'json_schema' && isJsonObject(schema) ? { format: 'json', schema } : undefined;
}
