import { faultAt } from '../../../files/file-fault.ts';
import { isJsonList, type JsonObject, type JsonValue, ownValue } from '../../../files/json.ts';
import type { YamlValue } from '../../../files/yaml.ts';
import { isJsonObject } from '../../../wire/bounded-json.ts';
import { declaredOf } from './declared.ts';
import type { Conversion } from './source.ts';

export interface Providers {
  /** By our names; none if no provider has one. */
  readonly models: readonly string[];
  /** Of the first. */
  readonly config: JsonObject;
  readonly output: JsonObject | undefined;
  /** Entries of a models file, for those that are programs or addresses. */
  readonly entries: readonly JsonObject[];
}

/** Their providers, and what may stand between one and the model's name. */
const PREFIXES: readonly (readonly [theirs: RegExp, ours: string])[] = [
  [
    /^openai:(?:chat:|responses:)?(?!(?:completion|embeddings?|image|moderation|realtime|assistant|speech|transcription|tts|video)\b)/u,
    'openai/',
  ],
  [/^anthropic:(?:messages:)?(?!completion\b|claude-agent)/u, 'anthropic/'],
  [/^ollama:(?:chat:|completion:)?(?!embeddings?\b)/u, 'ollama/'],
  [/^google:(?!embedding|image|live)/u, 'googleai/'],
  [/^openrouter:/u, 'openrouter/'],
  [/^groq:/u, 'groq/'],
  [/^mistral:(?!embedding)/u, 'mistral/'],
  [/^deepseek:/u, 'deepseek/'],
  [/^xai:(?!image)/u, 'xai/'],
  [/^togetherai:(?:chat:)?/u, 'together/'],
  [/^fireworks:/u, 'fireworks/'],
  [/^cerebras:/u, 'cerebras/'],
  [/^github:/u, ''],
];

const SETTINGS: Readonly<Record<string, string>> = {
  max_tokens: 'maxOutputTokens',
  max_completion_tokens: 'maxOutputTokens',
  max_output_tokens: 'maxOutputTokens',
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

/** The models that a configuration runs its prompts with. */
export function providersOf(node: YamlValue | undefined, conversion: Conversion): Providers {
  const items = node && isJsonList(node.json()) ? node.items('providers') : node ? [node] : [];
  const named = items.map(item => providerOf(item, conversion)).filter(provider => provider !== undefined);
  const [first, ...others] = named;
  const entries = new Map(named.flatMap(({ model, entry }) => (entry ? [[model, entry] as const] : [])));
  for (const { config } of others) {
    if (config) conversion.note(config, '`config` of the second and later providers has no equivalent');
  }
  const { settings, output } = first?.config
    ? settingsOf(first.config, conversion)
    : { settings: {}, output: undefined };
  const models = [...new Set(named.map(({ model }) => model))];
  return { models, config: settings, output, entries: [...entries.values()] };
}

interface Provider {
  readonly model: string;
  readonly config: YamlValue | undefined;
  readonly entry?: JsonObject;
}

function providerOf(item: YamlValue, conversion: Conversion): Provider | undefined {
  const { scalar } = item;
  if (scalar !== undefined) return named(scalar, undefined, item, conversion);
  const entries = item.valuesByKey('a provider');
  const [only] = entries;
  // `{openai:gpt-4o: {config: …}}`
  if (entries.size === 1 && only?.[0].includes(':')) {
    return withKeys(only[0], only[1].valuesByKey(only[0]), item, conversion);
  }
  const id = entries.get('id');
  if (!id) throw faultAt(item, 'a provider needs `id`');
  entries.delete('id');
  return withKeys(id.text('id'), entries, item, conversion);
}

function withKeys(
  id: string,
  entries: ReadonlyMap<string, YamlValue>,
  item: YamlValue,
  conversion: Conversion,
): Provider | undefined {
  conversion.noteUnknown(entries, ['config', 'label'], ' of a provider');
  return named(id, entries.get('config'), item, conversion, entries.get('label')?.scalar);
}

function named(
  id: string,
  config: YamlValue | undefined,
  at: YamlValue,
  conversion: Conversion,
  label?: string,
): Provider | undefined {
  const declared = declaredOf({ id, label, config, at }, conversion);
  if (declared) return { ...declared, config: undefined };
  if (/^(?:exec:|https?(?:$|:\/\/))/u.test(id)) return undefined;
  if (id === 'echo') return { model: 'echo', config };
  for (const [theirs, ours] of PREFIXES) {
    const model = id.replace(theirs, '');
    if (model !== id && model !== '') return { model: ours + model, config };
  }
  conversion.note(at, `the provider \`${id}\` has no equivalent: name a model of ours`);
  return undefined;
}

function settingsOf(
  config: YamlValue,
  conversion: Conversion,
): { settings: JsonObject; output: JsonObject | undefined } {
  const settings: Record<string, JsonValue> = {};
  let output: JsonObject | undefined;
  for (const [key, entry] of config.valuesByKey('config')) {
    const ours = Object.hasOwn(SETTINGS, key) ? (SETTINGS[key] ?? key) : key;
    const value = entry.json();
    if (conversion.isSetting(ours)) {
      settings[ours] = ours === 'stopSequences' && !isJsonList(value) ? [value] : value;
    } else if (key === 'response_format') {
      output = outputOf(value);
      if (!output) conversion.note(entry, '`response_format` has no equivalent');
    } else {
      // Its value may be a key.
      conversion.note(entry, `\`${key}\` of a provider's config has no equivalent`);
    }
  }
  return { settings, output };
}

function outputOf(format: JsonValue): JsonObject | undefined {
  const type = ownValue(format, 'type');
  if (type === 'json_object') return { format: 'json' };
  const schema = ownValue(ownValue(format, 'json_schema') ?? format, 'schema');
  return type === 'json_schema' && isJsonObject(schema) ? { format: 'json', schema } : undefined;
}
