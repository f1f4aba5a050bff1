import {
  findOwnValue,
  isJsonList,
  type JsonObject,
  type JsonValue,
} from '../../../../files/formats/json.ts';
import { toTextOrEmpty } from '../../../../files/formats/json-fields.ts';
import type { YamlValue } from '../../../../files/formats/yaml.ts';
import { isJsonObject } from '../../../../utils/bounded-json.ts';
import type { ConversionContext } from '../conversion-context.ts';
import { readMergedValues } from '../files/merged-values.ts';
import { readAnswerFormat, readsFormat } from './answer-format.ts';
import { convertTools } from './convert-tools.ts';
import { ADDRESS_KEYS, allowsAddressKey } from './provider-base-url.ts';
import {
  AZURE_REASONING_MODEL,
  type ConfigSource,
  isSent,
  parseAzureDeployment,
} from './sent-settings.ts';
import {
  ANSWER_CHANGING_KEYS,
  IGNORABLE_KEYS,
  RESPONSE_FORMAT_KEYS,
  toOwnName,
} from './setting-names.ts';

/**
 * Providers that send no other keys than those that promptfoo knows. Bedrock's depend on the model.
 */
const SENDS_ONLY_KNOWN_KEYS =
  /^(?:echo$|(?:openai|anthropic|ollama|azure(?:openai)?|google|openrouter|github|perplexity|huggingface|hf|groq|deepseek|xai|mistral):)/u;

/** Providers whose address promptfoo takes from no `config`. */
const HAS_FIXED_ADDRESS = /^(?:deepseek|groq|xai):/u;

/** Keys of a `config` that promptfoo never sends to some providers. */
const UNSENT_KEYS = [
  { ids: /^(?:anthropic|openai|openrouter|ollama):/u, keys: ['system'] },
  { ids: /^ollama:/u, keys: ['format', 'template', 'raw'] },
];

/** Keys that hold their own settings. */
const NESTED_SETTINGS_KEYS = ['generationConfig', 'textGenerationConfig', 'inferenceConfig'];

/** Providers whose requests take every key of `passthrough`, which wins over the others. */
const TAKES_PASSTHROUGH =
  /^(?:openai|azure(?:openai)?|openrouter|groq|deepseek|xai|perplexity|github|ollama|(?:huggingface|hf):chat):/u;

/** Providers that get Chat Completions requests, here as in promptfoo. */
const ASKED_BY_CHAT =
  /^(?:openai|openrouter|groq|deepseek|perplexity|github|(?:huggingface|hf):chat):(?!responses:)/u;

/** Fields of `passthrough` that ask for anything but one text. */
const UNPASSED_FIELDS = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'n',
  'modalities',
  'audio',
  'prediction',
];

interface ConvertedSettings {
  readonly settings: JsonObject;
  readonly output?: JsonObject | undefined;
}

/** Converts a `config`, and reports what has no equivalent. */
export function convertSettings(
  source: ConfigSource,
  config: ReadonlyMap<string, YamlValue> | undefined,
  conversion: ConversionContext,
): ConvertedSettings {
  const settingsOfKeys: JsonObject[] = [];
  let output: JsonObject | undefined;
  for (const [key, entry] of [...(config ?? [])].toSorted(comparePassthroughLast)) {
    if (entry.toJson() === null) continue;
    const converted = convertSetting(source, key, entry, conversion);
    settingsOfKeys.push(converted.settings ?? {});
    output ??= converted.output;
  }

  return { settings: Object.assign({}, ...settingsOfKeys) as JsonObject, output };
}

/** Sorts `passthrough` last, because it wins over the other settings. */
function comparePassthroughLast(
  [a]: readonly [key: string, value: unknown],
  [b]: readonly [key: string, value: unknown],
): number {
  return Number(a === 'passthrough') - Number(b === 'passthrough');
}

/** Converts one key of a `config`. */
function convertSetting(
  source: ConfigSource,
  key: string,
  entry: YamlValue,
  conversion: ConversionContext,
): Partial<ConvertedSettings> {
  const isSetting =
    conversion.isSetting(toOwnName(key)) || ['thinkingConfig', 'reasoning'].includes(key);
  if (conversion.isForTest && isSetting && !isSent(source, key)) {
    conversion.reportHarmless(
      entry,
      `\`${key}\` of a provider's config is not sent to this model by promptfoo either`,
    );
    return {};
  }

  const isPassthrough = key === 'passthrough' && TAKES_PASSTHROUGH.test(source.id);
  if (isPassthrough || NESTED_SETTINGS_KEYS.includes(key)) {
    const nestedConfig = readMergedValues(entry, key);
    return convertSettings({ ...source, sendsAllKeys: true }, nestedConfig, conversion);
  }

  const settings =
    findOwnSettings(source.id, key, entry.toJson(), conversion) ??
    convertTools(source.id, key, entry, conversion) ??
    findRequestField(source, key, entry.toJson());
  if (settings) return { settings };

  if (isAnswerFormat(source, key, conversion)) {
    const format = readAnswerFormat(entry.toJson());
    if (format === undefined) conversion.reportOmission(entry, `\`${key}\` has no equivalent`);
    return typeof format === 'object' ? { output: format } : {};
  }

  reportLostSetting(source, key, entry, conversion);
  return {};
}

/** Returns true if a key holds the format of answers, and promptfoo reads it for the provider. */
function isAnswerFormat(
  { id, sendsAllKeys = false }: ConfigSource,
  key: string,
  { isForTest }: ConversionContext,
): boolean {
  const isFormat = RESPONSE_FORMAT_KEYS.includes(key) || (key === 'format' && sendsAllKeys);
  return isFormat && (!isForTest || readsFormat(id, key));
}

/** Returns our settings for a key of a `config`; undefined if it is not a setting. */
function findOwnSettings(
  id: string,
  key: string,
  value: JsonValue,
  conversion: ConversionContext,
): JsonObject | undefined {
  if (key === 'thinkingConfig') return findThinkingEffort(id, value);
  const name = toOwnName(key);
  if (conversion.isSetting(name)) {
    return { [name]: name === 'stopSequences' && !isJsonList(value) ? [value] : value };
  }
  const effort = key === 'reasoning' ? findOwnValue(value, 'effort') : undefined;
  return typeof effort === 'string' ? { reasoningEffort: effort } : undefined;
}

/** Returns the effort in Google's `thinkingConfig`; undefined if it can't be expressed. */
function findThinkingEffort(id: string, thinking: JsonValue): JsonObject | undefined {
  if (!isJsonObject(thinking)) return undefined;

  const { thinkingBudget: budget, thinkingLevel: level, ...otherFields } = thinking;
  if (Object.keys(otherFields).length > 0) return undefined;

  if (typeof level === 'string' && budget === undefined) {
    return { reasoningEffort: level.toLowerCase() };
  }

  // -1 lets the model decide, as all but the smallest do anyway.
  if (budget === -1 && level === undefined && !/flash-lite/u.test(id)) return {};

  const canStop = /gemini-2\.5-flash/u.test(id);
  return budget === 0 && level === undefined && canStop ? { reasoningEffort: 'none' } : undefined;
}

/** Reports a key that is not converted, unless the tests don't need it. */
function reportLostSetting(
  source: ConfigSource,
  key: string,
  entry: YamlValue,
  conversion: ConversionContext,
): void {
  const setting = `\`${key}\` of a provider's config`;
  if (conversion.isForTest) {
    if (isCoveredElsewhere(source.id, key, entry.toJson())) return;
    if (IGNORABLE_KEYS.has(key)) {
      conversion.reportHarmless(entry, `${setting} is left out`);
      return;
    }
    if (isIgnoredSetting(source, key)) {
      conversion.reportHarmless(entry, `${setting} is a key that promptfoo ignores too`);
      return;
    }
  }
  // The note leaves out the value, which may be a key.
  conversion.reportOmission(entry, `${setting} has no equivalent`);
}

/**
 * Returns true for a key that changes no request, or that other parts of the conversion take into
 * account.
 */
function isCoveredElsewhere(id: string, key: string, value: JsonValue): boolean {
  if (ADDRESS_KEYS.includes(key)) return allowsAddressKey(id);
  if (key === 'headers') return areHeadersHarmless(value);
  // promptfoo connects only if it is enabled.
  if (key === 'mcp') return !findOwnValue(value, 'enabled');
  const deployment = parseAzureDeployment(id)?.deployment;
  if (!['isReasoningModel', 'o1'].includes(key) || deployment === undefined) return false;
  return value === false || AZURE_REASONING_MODEL.test(deployment);
}

/** Returns true if promptfoo neither sends a key nor changes its answer for it. */
function isIgnoredSetting({ id, sendsAllKeys = false }: ConfigSource, key: string): boolean {
  if (key === 'apiBaseUrl' && HAS_FIXED_ADDRESS.test(id)) return true;
  if (sendsAllKeys || ADDRESS_KEYS.includes(key)) return false;
  if (UNSENT_KEYS.some(({ ids, keys }) => ids.test(id) && keys.includes(key))) return true;
  return SENDS_ONLY_KNOWN_KEYS.test(id) && !ANSWER_CHANGING_KEYS.has(key);
}

/** Returns a key of `passthrough` as the field of a request that it is; undefined if it is none. */
function findRequestField(
  { id, sendsAllKeys = false }: ConfigSource,
  key: string,
  value: JsonValue,
): JsonObject | undefined {
  const isField = sendsAllKeys && ASKED_BY_CHAT.test(id) && /^[a-z][a-z\d_]*$/u.test(key);
  return isField && !UNPASSED_FIELDS.includes(key) && !RESPONSE_FORMAT_KEYS.includes(key)
    ? { [key]: value }
    : undefined;
}

/** Returns true if headers only name the application that asks, or JSON, which is sent anyway. */
function areHeadersHarmless(headers: JsonValue): boolean {
  const pairs = isJsonObject(headers) ? Object.entries(headers) : [['', '']];
  return pairs.every(([name = '', value]) => {
    if (/^(?:http-referer|referer|x-title|user-agent)$/iu.test(name)) return true;
    const isContentType = /^(?:content-type|accept)$/iu.test(name);
    return isContentType && /^application\/json\b/iu.test(toTextOrEmpty(value));
  });
}
