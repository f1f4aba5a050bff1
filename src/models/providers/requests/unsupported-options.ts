import { isPrivateHost } from '../../../wire/addresses.ts';
import type { InterfaceName, ModelEntry, OptionName } from '../../model-entry.ts';

/** The facts about a model that its options depend on. */
export interface ModelTarget {
  readonly provider: string;
  /** The provider's name of the model. */
  readonly id: string;
  readonly interfaceName: InterfaceName;
  /** The value in models.yaml. */
  readonly isReasoning?: boolean | undefined;
  /** True if the server is on this machine or in this network. */
  readonly isLocal?: boolean;
}

type SentSettings = Readonly<Record<string, unknown>>;

/** Options that some models don't take, which a request must leave out. */
interface OptionRule {
  readonly options: readonly OptionName[];
  /** The interfaces; default all. */
  readonly interfaces?: readonly InterfaceName[];
  /** Matches model names in lower case, without the maker; default all. */
  readonly modelNames?: RegExp;
  /** Further conditions. */
  readonly when?: (target: ModelTarget, settings: SentSettings) => boolean;
}

const SAMPLING_OPTIONS = ['temperature', 'topP'] as const;
const PENALTY_OPTIONS = ['frequencyPenalty', 'presencePenalty'] as const;

/**
 * OpenAI's reasoning models: the o series, gpt-5 and later, Codex. Not gpt-oss, which runs
 * elsewhere.
 */
const OPENAI_REASONING_MODEL = /^(?:o\d+(?:-|$)|gpt-(?:[5-9]|1\d)(?!\d)(?!-chat)|codex-)/;

/** OpenAI's other models. Azure writes 3.5 without the dot. */
const OPENAI_NON_REASONING_MODEL = /^(?:gpt-(?:3\.?5|4)(?!\d)|gpt-5-chat|chatgpt-)/;
const OPENAI_IMAGE_MODEL = /^(?:gpt-image|chatgpt-image|dall-e)/;

/** OpenAI's models whose reasoning can be switched off, after which they take sampling options. */
const MODEL_WITH_OPTIONAL_REASONING = /^gpt-5\.\d/;

/** Claude up to 4.6. Later models take no sampling options. */
const CLAUDE_WITH_SAMPLING =
  /^claude-(?:instant|v?2|3|(?:opus|sonnet|haiku)-4(?:[-.][0-6](?!\d)|-20\d{6}|[@:]|-v\d|$))/;

const CLAUDE_WITHOUT_EFFORT =
  /^claude-(?:instant|v?2|3|(?:sonnet|haiku)-4[-.]5|(?:opus|sonnet)-4(?:[-.][01](?!\d)|-20\d{6}|[@:]|$))/;

/** Claude from 4.1 on refuses temperature and topP together. */
const CLAUDE_WITH_EXCLUSIVE_SAMPLING = /^claude-(?:opus-4[-.][1-6]|sonnet-4[-.][56]|haiku-4[-.]5)/;

/** Servers that run on the machine or in the network of their users. */
const LOCAL_SERVERS: ReadonlySet<string> = new Set(['ollama', 'lmstudio', 'llamacpp', 'vllm']);

/**
 * The providers' rules, which their documentation gives only in part: most come from refusals that
 * users reported (`test/support/providers/real-refusals.ts`).
 */
const RULES: readonly OptionRule[] = [
  // OpenAI
  {
    interfaces: ['openai-responses', 'azure'],
    options: ['topK', 'seed', 'stopSequences', ...PENALTY_OPTIONS, 'n'],
  },
  { interfaces: ['groq', 'mistral', 'deepseek', 'xai', 'cerebras'], options: ['topK'] },
  { interfaces: ['openai'], when: ({ isLocal = false }) => !isLocal, options: ['topK'] },
  { when: isOpenAiReasoning, options: [...PENALTY_OPTIONS, 'stopSequences', 'topK'] },
  {
    when: (target, settings) => isOpenAiReasoning(target) && !disablesReasoning(target, settings),
    options: SAMPLING_OPTIONS,
  },
  {
    when: target => isOpenAi(target) && isReasoningModel(target) === false,
    options: ['reasoningEffort'],
  },
  {
    modelNames: OPENAI_IMAGE_MODEL,
    options: [
      ...SAMPLING_OPTIONS,
      'topK',
      'seed',
      ...PENALTY_OPTIONS,
      'stopSequences',
      'reasoningEffort',
    ],
  },
  {
    modelNames: /^gpt-.*-search-(?:preview|api)/,
    options: [...SAMPLING_OPTIONS, ...PENALTY_OPTIONS, 'n'],
  },
  // Anthropic, wherever its models run
  { interfaces: ['anthropic'], options: ['seed', ...PENALTY_OPTIONS, 'n'] },
  { modelNames: /^claude-/, options: ['seed', ...PENALTY_OPTIONS, 'n'] },
  {
    modelNames: /^claude-/,
    when: ({ id, isReasoning }) =>
      isReasoning !== false && !CLAUDE_WITH_SAMPLING.test(toBareName(id)),
    options: [...SAMPLING_OPTIONS, 'topK'],
  },
  {
    modelNames: CLAUDE_WITH_EXCLUSIVE_SAMPLING,
    when: (_, { temperature, topP }) => hasValue(temperature) && hasValue(topP),
    options: ['topP'],
  },
  { modelNames: CLAUDE_WITHOUT_EFFORT, options: ['reasoningEffort'] },
  // Google
  {
    interfaces: ['google', 'vertexai'],
    modelNames: /^gemini-(?!1|2\.0)/,
    options: PENALTY_OPTIONS,
  },
  // Google's Chat Completions endpoint refuses unknown names.
  {
    interfaces: ['openai'],
    when: ({ provider }) => provider === 'googleai',
    options: ['topK', 'seed', ...PENALTY_OPTIONS],
  },
  {
    interfaces: ['google', 'vertexai'],
    modelNames: /^(?:gemini-(?:1|2\.0)|gemma|imagen)/,
    options: ['reasoningEffort'],
  },
  // Others
  { interfaces: ['bedrock'], options: ['seed', ...PENALTY_OPTIONS, 'n'] },
  { interfaces: ['bedrock'], modelNames: /^(?!claude-)/, options: ['topK'] },
  { interfaces: ['groq'], options: ['n'] },
  {
    interfaces: ['groq'],
    modelNames: /llama|gemma|kimi|allam|mistral|compound/,
    options: ['reasoningEffort'],
  },
  {
    interfaces: ['mistral'],
    modelNames:
      /^(?:open-|codestral|devstral|ministral|pixtral|voxtral|mistral-(?:large-[1-3]|tiny|nemo|saba))/,
    options: ['reasoningEffort'],
  },
  { interfaces: ['deepseek'], options: ['seed', ...PENALTY_OPTIONS, 'n'] },
  {
    interfaces: ['deepseek'],
    modelNames: /^deepseek-(?:reasoner|v4|flash|pro)/,
    when: (_, { reasoningEffort }) => reasoningEffort !== 'none',
    options: SAMPLING_OPTIONS,
  },
  { interfaces: ['openrouter'], options: ['n'] },
  { interfaces: ['cerebras'], options: PENALTY_OPTIONS },
  { interfaces: ['xai'], modelNames: /^grok-(?!2|3(?!-mini))/, options: PENALTY_OPTIONS },
  { interfaces: ['xai'], modelNames: /^grok-3/, options: ['presencePenalty'] },
  {
    interfaces: ['xai'],
    modelNames: /^grok-(?!2|3(?!-mini)|.*non-reasoning)/,
    options: ['stopSequences'],
  },
  {
    interfaces: ['xai'],
    modelNames: /^grok-(?:2|3(?!-mini)|4(?!\.[3-9])(?!.*multi-agent)|code|build)/,
    options: ['reasoningEffort'],
  },
];

/** Maximum temperature of providers whose maximum is below 2. */
const MAX_TEMPERATURE_BY_INTERFACE: Partial<Record<InterfaceName, number>> = {
  anthropic: 1,
  bedrock: 1,
  mistral: 1.5,
  cerebras: 1.5,
};

/** Returns the facts that a model's options depend on; undefined if it has no provider. */
export function toModelTarget({
  model,
  id = model,
  provider,
  isReasoning,
}: ModelEntry): ModelTarget | undefined {
  if (!provider) return undefined;
  const { name, interfaceName, baseUrl } = provider;
  const isLocal =
    LOCAL_SERVERS.has(name) || (URL.canParse(baseUrl) && isPrivateHost(new URL(baseUrl).hostname));
  return { provider: name, id, interfaceName, isReasoning, isLocal };
}

/**
 * Returns the options that a model does not take, and those that models.yaml leaves out.
 *
 * @param settings the options to send, because some can't be sent together
 */
export function listOmittedOptions(
  model: ModelEntry,
  settings: SentSettings = {},
): ReadonlySet<OptionName> {
  const target = toModelTarget(model);
  return new Set([
    ...(target ? listUnsupportedOptions(target, settings) : []),
    ...(model.omittedOptions ?? []),
  ]);
}

/** Returns the options that the rules exclude for a model. */
export function listUnsupportedOptions(
  target: ModelTarget,
  settings: SentSettings = {},
): ReadonlySet<OptionName> {
  const name = toBareName(target.id);
  const rules = RULES.filter(
    ({ interfaces, modelNames, when }) =>
      (interfaces?.includes(target.interfaceName) ?? true) &&
      (modelNames?.test(name) ?? true) &&
      (when?.(target, settings) ?? true),
  );
  return new Set(rules.flatMap(({ options }) => options));
}

/** Returns a provider's own maximum of an option, if it is lower than the general one. */
export function findProviderMaximum(
  { id, interfaceName }: ModelTarget,
  option: OptionName | 'maxOutputTokens',
): number | undefined {
  if (option !== 'temperature') return undefined;
  if (toBareName(id).startsWith('claude-')) return 1;
  const isOpenAiAtBedrock = interfaceName === 'bedrock' && /(?:^|\.)openai\.(?!gpt-oss)/.test(id);
  return isOpenAiAtBedrock ? undefined : MAX_TEMPERATURE_BY_INTERFACE[interfaceName];
}

/**
 * Returns true for a reasoning model, false for another one, undefined if its name doesn't show it.
 */
export function isReasoningModel({ id, isReasoning }: ModelTarget): boolean | undefined {
  if (isReasoning !== undefined) return isReasoning;
  const name = toBareName(id);
  if (OPENAI_REASONING_MODEL.test(name)) return true;
  return OPENAI_NON_REASONING_MODEL.test(name) ? false : undefined;
}

/**
 * Returns a model's name in lower case, without its maker (`openai/`, `us.anthropic.`) or a
 * fine-tuning prefix.
 */
function toBareName(id: string): string {
  const plain = id.toLowerCase().replace(/^ft:/, '').replace(/^.*\//, '');
  return plain.replace(/^(?:[a-z]+\.)*(?=(?:claude|gpt|o\d|llama|mistral|nova|deepseek)\b)/, '');
}

/**
 * Returns true for OpenAI's models. A deployment may have any name, so it counts as one of them if
 * models.yaml sets `reasoning`.
 */
function isOpenAi(target: ModelTarget): boolean {
  const name = toBareName(target.id);
  if (OPENAI_REASONING_MODEL.test(name) || OPENAI_NON_REASONING_MODEL.test(name)) return true;
  return (
    target.isReasoning !== undefined &&
    ['openai', 'openai-responses', 'azure'].includes(target.interfaceName)
  );
}

function isOpenAiReasoning(target: ModelTarget): boolean {
  return isOpenAi(target) && isReasoningModel(target) === true;
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function disablesReasoning({ id }: ModelTarget, { reasoningEffort }: SentSettings): boolean {
  return reasoningEffort === 'none' && MODEL_WITH_OPTIONAL_REASONING.test(toBareName(id));
}
