import type { JsonObject } from '../../../../files/formats/json.ts';

export interface ConfigSource {
  readonly id: string;
  /** True if promptfoo sends all its keys, known or not. */
  readonly isSentWhole?: boolean;
}

/** The defaults of promptfoo for OpenAI's interfaces and Messages; it sends none to reasoning models. */
const DEFAULTS: JsonObject = { temperature: 0, maxOutputTokens: 1024 };
const SENDS_DEFAULTS =
  /^(?:openai:|anthropic:|azure|openrouter:|groq:|mistral:|deepseek:|xai:(?!responses:)|togetherai:|fireworks:|cerebras:|github:|perplexity:|(?:huggingface|hf):chat:)/u;
const THINKS = /(?:^|[/:])(?:o[134](?:-|$)|gpt-5|codex-mini)/u;
/** Matches the deployments of Azure that promptfoo takes for reasoning models. */
export const AZURE_THINKS =
  /^(?:o[134]|gpt-5)|-(?:o[134]|gpt-5)|deepseek[-_]r1|phi-4-(?:mini-)?reasoning|mai-(?:thinking|ds-r1|reasoning)|^grok-.{0,99}reasoning/iu;
/** Matches reasoning models that promptfoo sends a temperature, but no `max_tokens`. */
const THINKS_WITH_TEMPERATURE =
  /^(?:groq:(?!responses:).*(?:gpt-oss|qwen)|xai:grok-(?:3-mini|(?:4|build|code-fast|latest)(?!.*non-reasoning)))/u;
const MISTRAL_DEFAULTS: JsonObject = { topP: 1, maxOutputTokens: 1024 };
/** The defaults of promptfoo for reasoning deployments of Azure in Chat Completions. */
const AZURE_REASONING: JsonObject = { reasoningEffort: 'medium', maxOutputTokens: 1024 };
/** Messages refuses a temperature for these. */
const TAKES_NO_TEMPERATURE = /^claude-(?:opus-4-[7-9]|opus-[5-9]|sonnet-[5-9]|fable|mythos)/u;

/** Returns settings with the defaults of promptfoo, which sends Messages no temperature together with `top_p`. */
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

export function azureDeployment(id: string): { deployment: string; isResponses: boolean } | undefined {
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
  const unsentSettings = isReasoning ? ['temperature', ...(azure ? [] : ['max_tokens'])] : unsentByOthers;
  const isResponses = azure?.isResponses ?? id.startsWith('openai:responses:');
  const ofHuggingFace = /^(?:huggingface|hf):/u.test(id) ? ['max_new_tokens'] : [];
  const sent = isResponses ? RESPONSES_SETTINGS : [...CHAT_SETTINGS, ...REASONING, ...ofHuggingFace];
  return sent.filter(key => !unsentSettings.includes(key));
}

/** Returns true if promptfoo drops a setting that a model of xAI refuses. */
function isDroppedByGrok(id: string, key: string): boolean {
  if (key === 'reasoning_effort') return /^xai:(?!grok-(?:3-mini|4\.[35]|build-latest|latest))/u.test(id);
  return /^xai:grok-(?:4|build-latest|latest)/u.test(id) && ['stop', ...PENALTY_SETTINGS].includes(key);
}

/** Returns true if promptfoo doesn't send a setting of a `config` to a model. */
export function isUnsent({ id, isSentWhole = false }: ConfigSource, key: string): boolean {
  if (isSentWhole || key === 'service_tier') return false;
  if (key === 'thinkingConfig') return true;
  // Chat Completions gets it for the o series only.
  if (key === 'reasoning') return /^openai:(?!responses:)(?!(?:.*[/:])?o[134])/u.test(id);
  return sentSettings(id)?.includes(key) === false;
}
