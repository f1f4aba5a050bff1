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
import { isFormatKey, readAnswerFormat } from './answer-format.ts';
import { convertTools } from './convert-tools.ts';
import { ADDRESS_KEYS, allowsAddressKey } from './provider-base-url.ts';
import {
  AZURE_REASONING_MODEL,
  type ConfigSource,
  isSentSetting,
  parseAzureDeployment,
} from './sent-settings.ts';
import {
  ANSWER_CHANGING_KEYS,
  IGNORABLE_KEYS,
  RESPONSE_FORMAT_KEYS,
  toOwnSettingName,
} from './setting-names.ts';

/**
 * Matches the ids of providers to which promptfoo sends only keys that it knows. For Bedrock, that
 * depends on the model.
 */
const PROVIDER_WITH_ONLY_KNOWN_KEYS =
  /^(?:echo$|(?:openai|anthropic|ollama|azure(?:openai)?|google|openrouter|github|perplexity|huggingface|hf|groq|deepseek|xai|mistral):)/u;

/** Matches the ids of providers whose address promptfoo takes from no `config`. */
const PROVIDER_WITH_FIXED_ADDRESS = /^(?:deepseek|groq|xai):/u;

/** Keys of a `config` that promptfoo never sends to some providers. */
const UNSENT_KEYS = [
  { providerId: /^(?:anthropic|openai|openrouter|ollama):/u, keys: ['system'] },
  { providerId: /^ollama:/u, keys: ['format', 'template', 'raw'] },
];

/** Keys whose values are maps of further settings. */
const NESTED_SETTINGS_KEYS = ['generationConfig', 'textGenerationConfig', 'inferenceConfig'];

/** Matches the ids of providers whose requests take every key of `passthrough`. */
const PROVIDER_WITH_PASSTHROUGH =
  /^(?:openai|azure(?:openai)?|openrouter|groq|deepseek|xai|perplexity|github|ollama|(?:huggingface|hf):chat):/u;

/** Matches the ids of providers that get Chat Completions requests, here as in promptfoo. */
const CHAT_COMPLETIONS_PROVIDER =
  /^(?:openai|openrouter|groq|deepseek|perplexity|github|(?:huggingface|hf):chat):(?!responses:)/u;

/** Fields of `passthrough` that ask for anything but one text. */
const UNSUPPORTED_REQUEST_FIELDS = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'n',
  'modalities',
  'audio',
  'prediction',
];

/** A `config` as the settings and the `output` of a prompt file. */
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
    conversion.isSetting(toOwnSettingName(key)) || ['thinkingConfig', 'reasoning'].includes(key);
  if (conversion.isForTest && isSetting && !isSentSetting(source, key)) {
    conversion.reportHarmless(
      entry,
      `\`${key}\` of a provider's config is not sent to this model by promptfoo either`,
    );
    return {};
  }

  const isPassthrough = key === 'passthrough' && PROVIDER_WITH_PASSTHROUGH.test(source.id);
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

  reportUnconvertedSetting(source, key, entry, conversion);
  return {};
}

/** Returns true if a key holds the format of answers, and promptfoo reads it for the provider. */
function isAnswerFormat(
  { id, sendsAllKeys = false }: ConfigSource,
  key: string,
  { isForTest }: ConversionContext,
): boolean {
  const isFormat = RESPONSE_FORMAT_KEYS.includes(key) || (key === 'format' && sendsAllKeys);
  return isFormat && (!isForTest || isFormatKey(id, key));
}

/** Returns our settings for a key of a `config`; undefined if it is not a setting. */
function findOwnSettings(
  id: string,
  key: string,
  value: JsonValue,
  conversion: ConversionContext,
): JsonObject | undefined {
  if (key === 'thinkingConfig') return findThinkingEffort(id, value);
  const name = toOwnSettingName(key);
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

  // -1 lets the model decide, which is the default of all but the flash-lite models.
  if (budget === -1 && level === undefined && !/flash-lite/u.test(id)) return {};

  const canStop = /gemini-2\.5-flash/u.test(id);
  return budget === 0 && level === undefined && canStop ? { reasoningEffort: 'none' } : undefined;
}

/** Reports a key that is not converted, unless the tests don't need it. */
function reportUnconvertedSetting(
  source: ConfigSource,
  key: string,
  entry: YamlValue,
  conversion: ConversionContext,
): void {
  const settingName = `\`${key}\` of a provider's config`;
  if (conversion.isForTest) {
    if (isCoveredElsewhere(source.id, key, entry.toJson())) return;
    if (IGNORABLE_KEYS.has(key)) {
      conversion.reportHarmless(entry, `${settingName} is left out`);
      return;
    }
    if (isIgnoredSetting(source, key)) {
      conversion.reportHarmless(entry, `${settingName} is a key that promptfoo ignores too`);
      return;
    }
  }
  // The note leaves out the value, which may be a key.
  conversion.reportOmission(entry, `${settingName} has no equivalent`);
}

/**
 * Returns true for a key that changes no request, or that another part of the conversion reads.
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
  if (key === 'apiBaseUrl' && PROVIDER_WITH_FIXED_ADDRESS.test(id)) return true;
  if (sendsAllKeys || ADDRESS_KEYS.includes(key)) return false;
  const isUnsent = UNSENT_KEYS.some(
    ({ providerId, keys }) => providerId.test(id) && keys.includes(key),
  );
  if (isUnsent) return true;
  return PROVIDER_WITH_ONLY_KNOWN_KEYS.test(id) && !ANSWER_CHANGING_KEYS.has(key);
}

/**
 * Returns the field of a request for a key of `passthrough`; undefined for any other key, and for a
 * field that asks for more than one text.
 */
function findRequestField(
  { id, sendsAllKeys = false }: ConfigSource,
  key: string,
  value: JsonValue,
): JsonObject | undefined {
  const isField =
    sendsAllKeys && CHAT_COMPLETIONS_PROVIDER.test(id) && /^[a-z][a-z\d_]*$/u.test(key);
  return isField && !UNSUPPORTED_REQUEST_FIELDS.includes(key) && !RESPONSE_FORMAT_KEYS.includes(key)
    ? { [key]: value }
    : undefined;
}

/** Returns true if headers only name the application, or JSON as the type of bodies. */
function areHeadersHarmless(headers: JsonValue): boolean {
  const pairs = isJsonObject(headers) ? Object.entries(headers) : [['', '']];
  return pairs.every(([name = '', value]) => {
    if (/^(?:http-referer|referer|x-title|user-agent)$/iu.test(name)) return true;
    const isContentType = /^(?:content-type|accept)$/iu.test(name);
    return isContentType && /^application\/json\b/iu.test(toTextOrEmpty(value));
  });
}
