import { isPrivateHost } from '../../../wire/addresses.ts';
import type { InterfaceName, ModelEntry, OptionName } from '../../model-entry.ts';

/** The facts about a model that its options depend on. */
export interface ModelTarget {
  readonly provider: string;
  /** The provider's name of the model. */
  readonly id: string;
  readonly interface: InterfaceName;
  /** The value in models.yaml. */
  readonly isReasoning?: boolean | undefined;
  /** True if the server is on this machine or in this network. */
  readonly isLocal?: boolean;
}

type SentSettings = Readonly<Record<string, unknown>>;

/** Options that some models don't take. */
interface Rule {
  readonly options: readonly OptionName[];
  /** The interfaces; default all. */
  readonly interfaces?: readonly InterfaceName[];
  /** Matches model names in lower case, without the maker; default all. */
  readonly modelNames?: RegExp;
  /** Further conditions. */
  readonly when?: (target: ModelTarget, settings: SentSettings) => boolean;
}

const SAMPLING = ['temperature', 'topP'] as const;
const PENALTIES = ['frequencyPenalty', 'presencePenalty'] as const;

/**
 * OpenAI's reasoning models: the o series, gpt-5 and later, Codex. Not gpt-oss, which runs
 * elsewhere.
 */
const OPENAI_REASONING = /^(?:o\d+(?:-|$)|gpt-(?:[5-9]|1\d)(?!\d)(?!-chat)|codex-)/;

/** OpenAI's other models. Azure writes 3.5 without the dot. */
const OPENAI_OTHER = /^(?:gpt-(?:3\.?5|4)(?!\d)|gpt-5-chat|chatgpt-)/;
const OPENAI_IMAGES = /^(?:gpt-image|chatgpt-image|dall-e)/;

/** Models that take sampling options once reasoning is switched off. */
const CAN_STOP_THINKING = /^gpt-5\.\d/;

/** Claude up to 4.6. Later models take no sampling options. */
const CLAUDE_WITH_SAMPLING =
  /^claude-(?:instant|v?2|3|(?:opus|sonnet|haiku)-4(?:[-.][0-6](?!\d)|-20\d{6}|[@:]|-v\d|$))/;

const CLAUDE_WITHOUT_EFFORT =
  /^claude-(?:instant|v?2|3|(?:sonnet|haiku)-4[-.]5|(?:opus|sonnet)-4(?:[-.][01](?!\d)|-20\d{6}|[@:]|$))/;

/** Claude from 4.1 on refuses temperature and topP together. */
const CLAUDE_WITH_EITHER = /^claude-(?:opus-4[-.][1-6]|sonnet-4[-.][56]|haiku-4[-.]5)/;

/** Servers that run on the machine or in the network of their users. */
const LOCAL_SERVERS: ReadonlySet<string> = new Set(['ollama', 'lmstudio', 'llamacpp', 'vllm']);

const RULES: readonly Rule[] = [
  // OpenAI
  {
    interfaces: ['openai-responses', 'azure'],
    options: ['topK', 'seed', 'stopSequences', ...PENALTIES, 'n'],
  },
  { interfaces: ['groq', 'mistral', 'deepseek', 'xai', 'cerebras'], options: ['topK'] },
  { interfaces: ['openai'], when: ({ isLocal = false }) => !isLocal, options: ['topK'] },
  { when: isOpenAiReasoning, options: [...PENALTIES, 'stopSequences', 'topK'] },
  {
    when: (target, settings) => isOpenAiReasoning(target) && !isAskedNotToThink(target, settings),
    options: SAMPLING,
  },
  {
    when: target => isOpenAi(target) && isReasoningModel(target) === false,
    options: ['reasoningEffort'],
  },
  {
    modelNames: OPENAI_IMAGES,
    options: [...SAMPLING, 'topK', 'seed', ...PENALTIES, 'stopSequences', 'reasoningEffort'],
  },
  { modelNames: /^gpt-.*-search-(?:preview|api)/, options: [...SAMPLING, ...PENALTIES, 'n'] },
  // Anthropic, wherever its models run
  { interfaces: ['anthropic'], options: ['seed', ...PENALTIES, 'n'] },
  { modelNames: /^claude-/, options: ['seed', ...PENALTIES, 'n'] },
  {
    modelNames: /^claude-/,
    when: ({ id, isReasoning }) =>
      isReasoning !== false && !CLAUDE_WITH_SAMPLING.test(toBareName(id)),
    options: [...SAMPLING, 'topK'],
  },
  {
    modelNames: CLAUDE_WITH_EITHER,
    when: (_, { temperature, topP }) => hasValue(temperature) && hasValue(topP),
    options: ['topP'],
  },
  { modelNames: CLAUDE_WITHOUT_EFFORT, options: ['reasoningEffort'] },
  // Google
  { interfaces: ['google', 'vertexai'], modelNames: /^gemini-(?!1|2\.0)/, options: PENALTIES },
  // Google's Chat Completions endpoint refuses unknown names.
  {
    interfaces: ['openai'],
    when: ({ provider }) => provider === 'googleai',
    options: ['topK', 'seed', ...PENALTIES],
  },
  {
    interfaces: ['google', 'vertexai'],
    modelNames: /^(?:gemini-(?:1|2\.0)|gemma|imagen)/,
    options: ['reasoningEffort'],
  },
  // Others
  { interfaces: ['bedrock'], options: ['seed', ...PENALTIES, 'n'] },
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
  { interfaces: ['deepseek'], options: ['seed', ...PENALTIES, 'n'] },
  {
    interfaces: ['deepseek'],
    modelNames: /^deepseek-(?:reasoner|v4|flash|pro)/,
    when: (_, { reasoningEffort }) => reasoningEffort !== 'none',
    options: SAMPLING,
  },
  { interfaces: ['openrouter'], options: ['n'] },
  { interfaces: ['cerebras'], options: PENALTIES },
  { interfaces: ['xai'], modelNames: /^grok-(?!2|3(?!-mini))/, options: PENALTIES },
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
const MAX_TEMPERATURE: Partial<Record<InterfaceName, number>> = {
  anthropic: 1,
  bedrock: 1,
  mistral: 1.5,
  cerebras: 1.5,
};

/** Returns the facts that a model's options depend on; undefined for a model without a provider. */
export function toModelTarget({
  model,
  id = model,
  provider,
  isReasoning,
}: ModelEntry): ModelTarget | undefined {
  if (!provider) return undefined;
  const { name, engine, baseUrl } = provider;
  const isLocal =
    LOCAL_SERVERS.has(name) || (URL.canParse(baseUrl) && isPrivateHost(new URL(baseUrl).hostname));
  return { provider: name, id, interface: engine, isReasoning, isLocal };
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
    ...(model.leaveOut ?? []),
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
      (interfaces?.includes(target.interface) ?? true) &&
      (modelNames?.test(name) ?? true) &&
      (when?.(target, settings) ?? true),
  );
  return new Set(rules.flatMap(({ options }) => options));
}

/** Returns a provider's own maximum of an option, if it is lower than the general one. */
export function findProviderMaximum(
  { id, interface: engine }: ModelTarget,
  option: OptionName | 'maxOutputTokens',
): number | undefined {
  if (option !== 'temperature') return undefined;
  if (toBareName(id).startsWith('claude-')) return 1;
  const isOpenAiAtBedrock = engine === 'bedrock' && /(?:^|\.)openai\.(?!gpt-oss)/.test(id);
  return isOpenAiAtBedrock ? undefined : MAX_TEMPERATURE[engine];
}

/**
 * Returns true for a reasoning model, false for another one, undefined if its name doesn't show it.
 */
export function isReasoningModel({ id, isReasoning }: ModelTarget): boolean | undefined {
  if (isReasoning !== undefined) return isReasoning;
  const name = toBareName(id);
  if (OPENAI_REASONING.test(name)) return true;
  return OPENAI_OTHER.test(name) ? false : undefined;
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
 * Returns true for OpenAI's models. Deployments have any name, so `reasoning` in models.yaml marks
 * them.
 */
function isOpenAi(target: ModelTarget): boolean {
  const name = toBareName(target.id);
  if (OPENAI_REASONING.test(name) || OPENAI_OTHER.test(name)) return true;
  return (
    target.isReasoning !== undefined &&
    ['openai', 'openai-responses', 'azure'].includes(target.interface)
  );
}

function isOpenAiReasoning(target: ModelTarget): boolean {
  return isOpenAi(target) && isReasoningModel(target) === true;
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function isAskedNotToThink({ id }: ModelTarget, { reasoningEffort }: SentSettings): boolean {
  return reasoningEffort === 'none' && CAN_STOP_THINKING.test(toBareName(id));
}
