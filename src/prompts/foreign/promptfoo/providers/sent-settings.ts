import type { JsonObject } from '../../../../files/formats/json.ts';

// The tables and patterns of this file describe what promptfoo 0.121 sends to each provider.

const DEFAULT_TEMPERATURE: JsonObject = { temperature: 0 };
const DEFAULT_MAX_TOKENS: JsonObject = { maxOutputTokens: 1024 };
const MISTRAL_DEFAULTS: JsonObject = { topP: 1, ...DEFAULT_MAX_TOKENS };
const AZURE_REASONING_DEFAULTS: JsonObject = { reasoningEffort: 'medium', ...DEFAULT_MAX_TOKENS };

/** Matches the ids of providers that get default settings. */
const PROVIDER_WITH_DEFAULTS =
  /^(?:openai:|anthropic:|azure|openrouter:|groq:|mistral:|deepseek:|xai:(?!responses:)|togetherai:|fireworks:|cerebras:|github:|perplexity:|(?:huggingface|hf):chat:)/u;

/**
 * Matches reasoning models by their provider's id or by our name, as `openai:o3` or `openai/o3`.
 */
const REASONING_MODEL = /(?:^|[/:])(?:o[134](?:-|$)|gpt-5|codex-mini)/u;

/** Matches the deployments of Azure that promptfoo takes for reasoning models. */
export const AZURE_REASONING_MODEL =
  /^(?:o[134]|gpt-5)|-(?:o[134]|gpt-5)|deepseek[-_]r1|phi-4-(?:mini-)?reasoning|mai-(?:thinking|ds-r1|reasoning)|^grok-.{0,99}reasoning/iu;

/** Matches the ids of reasoning models that get a temperature, but no `max_tokens`. */
const REASONING_MODEL_WITH_TEMPERATURE =
  /^(?:groq:(?!responses:).*(?:gpt-oss|qwen)|xai:grok-(?:3-mini|(?:4|build|code-fast|latest)(?!.*non-reasoning)))/u;

/** Matches models that refuse a temperature at Anthropic. */
const MODEL_WITHOUT_TEMPERATURE = /^claude-(?:opus-4-[7-9]|opus-[5-9]|sonnet-[5-9]|fable|mythos)/u;

/** Matches the ids of providers that are asked like OpenAI's Chat Completions. */
const CHAT_PROVIDER =
  /^(?:openrouter|groq|deepseek|xai|perplexity|github|(?:huggingface|hf):chat):(?!responses:)/u;

const PENALTY_SETTINGS = ['frequency_penalty', 'presence_penalty'];
const CHAT_SETTINGS = ['temperature', 'max_tokens', 'top_p', 'stop', 'seed', ...PENALTY_SETTINGS];
const REASONING_SETTINGS = ['max_completion_tokens', 'reasoning_effort'];
const RESPONSES_SETTINGS = ['temperature', 'max_output_tokens', 'top_p', 'reasoning_effort'];

/** The settings that promptfoo sends to the models of a provider, by the beginning of their ids. */
const SETTINGS_BY_PROVIDER: readonly (readonly [prefix: string, settings: readonly string[]])[] = [
  ['anthropic:', ['temperature', 'max_tokens', 'top_p', 'top_k', 'stop_sequences']],
  ['google:', ['temperature', 'maxOutputTokens', 'topP', 'topK', 'stopSequences']],
  [
    'mistral:',
    [
      'temperature',
      'max_tokens',
      'top_p',
      'stop',
      'random_seed',
      'reasoning_effort',
      ...PENALTY_SETTINGS,
    ],
  ],
  [
    'ollama:',
    ['temperature', 'num_predict', 'top_p', 'top_k', 'stop', 'seed', ...PENALTY_SETTINGS],
  ],
];

/** The provider that a `config` belongs to. */
export interface ConfigSource {
  readonly id: string;
  /** True if promptfoo sends all its keys, known or not; default false. */
  readonly sendsAllKeys?: boolean;
}

/**
 * Returns settings with the defaults of promptfoo. It sends Anthropic no temperature together with
 * `top_p`.
 */
export function withDefaults(id: string, model: string, settings: JsonObject): JsonObject {
  const { temperature, ...otherSettings } = { ...getDefaultSettings(id, model), ...settings };
  const hasTemperature =
    temperature !== undefined && !(id.startsWith('anthropic:') && 'topP' in otherSettings);
  return { ...(hasTemperature && { temperature }), ...otherSettings };
}

function getDefaultSettings(id: string, model: string): JsonObject {
  const azure = parseAzureDeployment(id);
  if (azure && AZURE_REASONING_MODEL.test(azure.deployment)) {
    return azure.isResponses ? {} : AZURE_REASONING_DEFAULTS;
  }

  if (!PROVIDER_WITH_DEFAULTS.test(id) || REASONING_MODEL.test(model)) return {};
  if (id.startsWith('mistral:')) return MISTRAL_DEFAULTS;
  if (REASONING_MODEL_WITH_TEMPERATURE.test(id)) return DEFAULT_TEMPERATURE;

  const takesTemperature = !MODEL_WITHOUT_TEMPERATURE.test(model.replace(/^.*\//u, ''));
  return takesTemperature ? { ...DEFAULT_TEMPERATURE, ...DEFAULT_MAX_TOKENS } : DEFAULT_MAX_TOKENS;
}

/** Returns the deployment in an id of Azure, and its interface; undefined for any other id. */
export function parseAzureDeployment(
  id: string,
): { deployment: string; isResponses: boolean } | undefined {
  const { groups } =
    /^azure(?:openai)?:(?:(?<kind>chat|responses):)?(?<deployment>.*)$/u.exec(id) ?? {};
  return (
    groups && {
      deployment: groups['deployment'] ?? '',
      isResponses: groups['kind'] === 'responses',
    }
  );
}

/** Returns true if promptfoo sends a setting of a `config` to a model. */
export function isSentSetting({ id, sendsAllKeys = false }: ConfigSource, key: string): boolean {
  if (sendsAllKeys || key === 'service_tier') return true;
  if (key === 'thinkingConfig') return false;
  // OpenAI's Chat Completions gets it only for models of the o series.
  if (key === 'reasoning') return !/^openai:(?!responses:)(?!(?:.*[/:])?o[134])/u.test(id);
  return listSentSettings(id)?.includes(key) ?? true;
}

/** Returns the settings that promptfoo sends to a model; undefined if it sends all of them. */
function listSentSettings(id: string): readonly string[] | undefined {
  const [, settings] = SETTINGS_BY_PROVIDER.find(([prefix]) => id.startsWith(prefix)) ?? [];
  if (settings) return settings;

  if (REASONING_MODEL_WITH_TEMPERATURE.test(id)) {
    const chatSettings = [...CHAT_SETTINGS, ...REASONING_SETTINGS];
    return chatSettings.filter(key => key !== 'max_tokens' && !isRefusedByXai(id, key));
  }

  const azure = parseAzureDeployment(id);
  if (!azure && !id.startsWith('openai:') && !CHAT_PROVIDER.test(id)) return undefined;

  const isResponses = azure?.isResponses ?? id.startsWith('openai:responses:');
  const huggingFaceSettings = /^(?:huggingface|hf):/u.test(id) ? ['max_new_tokens'] : [];
  const allSettings = isResponses
    ? RESPONSES_SETTINGS
    : [...CHAT_SETTINGS, ...REASONING_SETTINGS, ...huggingFaceSettings];
  const omittedSettings = listOmittedSettings(id, azure?.deployment);

  return allSettings.filter(key => !omittedSettings.includes(key));
}

/** Returns the settings that promptfoo leaves out because a model reasons, or doesn't. */
function listOmittedSettings(id: string, azureDeployment: string | undefined): readonly string[] {
  const isReasoning =
    azureDeployment === undefined
      ? REASONING_MODEL.test(id)
      : AZURE_REASONING_MODEL.test(azureDeployment);
  if (isReasoning) {
    return azureDeployment === undefined ? ['temperature', 'max_tokens'] : ['temperature'];
  }
  return /gpt-oss/u.test(id) ? ['max_completion_tokens'] : REASONING_SETTINGS;
}

/** Returns true if a model of xAI refuses a setting, so that promptfoo leaves it out. */
function isRefusedByXai(id: string, key: string): boolean {
  if (key === 'reasoning_effort') {
    return /^xai:(?!grok-(?:3-mini|4\.[35]|build-latest|latest))/u.test(id);
  }
  return (
    /^xai:grok-(?:4|build-latest|latest)/u.test(id) && ['stop', ...PENALTY_SETTINGS].includes(key)
  );
}
