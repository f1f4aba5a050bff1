import { isPrivateHost } from '../../wire/addresses.ts';
import type { InterfaceName, ModelEntry, OptionName } from '../entry.ts';

/** A provider's model, as far as its options depend on it. */
export interface ModelTarget {
  readonly provider: string;
  /** The provider's name of the model. */
  readonly id: string;
  readonly interface: InterfaceName;
  /** As models.yaml has it. */
  readonly reasoning?: boolean | undefined;
  /** True for a server on this machine or in this network. */
  readonly isLocal?: boolean;
}

type Settings = Readonly<Record<string, unknown>>;

/** Options that models of some kind don't take. */
interface Rule {
  readonly options: readonly OptionName[];
  /** Default: at every interface. */
  readonly at?: readonly InterfaceName[];
  /** Matches the names of the models, in lower case and without their maker; default: every name. */
  readonly names?: RegExp;
  /** Further conditions. */
  readonly when?: (target: ModelTarget, settings: Settings) => boolean;
}

const SAMPLING = ['temperature', 'topP'] as const;
const PENALTIES = ['frequencyPenalty', 'presencePenalty'] as const;

/** OpenAI's models that think: the o series, gpt-5 and later, Codex. The weights of gpt-oss run elsewhere. */
const OPENAI_REASONING = /^(?:o\d+(?:-|$)|gpt-(?:[5-9]|1\d)(?!\d)(?!-chat)|codex-)/;
/** Azure writes 3.5 without its dot. */
const OPENAI_OTHER = /^(?:gpt-(?:3\.?5|4)(?!\d)|gpt-5-chat|chatgpt-)/;
const OPENAI_PICTURES = /^(?:gpt-image|chatgpt-image|dall-e)/;
/** Models that take sampling options if they are asked not to think. */
const CAN_STOP_THINKING = /^gpt-5\.\d/;

/** Claude up to 4.6; of those that came later, none takes sampling options. */
const CLAUDE_WITH_SAMPLING =
  /^claude-(?:instant|v?2|3|(?:opus|sonnet|haiku)-4(?:[-.][0-6](?!\d)|-20\d{6}|[@:]|-v\d|$))/;
const CLAUDE_WITHOUT_EFFORT =
  /^claude-(?:instant|v?2|3|(?:sonnet|haiku)-4[-.]5|(?:opus|sonnet)-4(?:[-.][01](?!\d)|-20\d{6}|[@:]|$))/;
/** Claude from 4.1 on refuses temperature and topP together. */
const CLAUDE_WITH_EITHER = /^claude-(?:opus-4[-.][1-6]|sonnet-4[-.][56]|haiku-4[-.]5)/;

const RULES: readonly Rule[] = [
  // OpenAI
  { at: ['openai-responses', 'azure'], options: ['topK', 'seed', 'stopSequences', ...PENALTIES, 'n'] },
  { at: ['groq', 'mistral', 'deepseek', 'xai', 'cerebras'], options: ['topK'] },
  { at: ['openai'], when: ({ isLocal = false }) => !isLocal, options: ['topK'] },
  { when: thinksAtOpenAi, options: [...PENALTIES, 'stopSequences', 'topK'] },
  {
    when: (target, settings) => thinksAtOpenAi(target) && !isAskedNotToThink(target, settings),
    options: SAMPLING,
  },
  { when: target => isOpenAi(target) && reasons(target) === false, options: ['reasoningEffort'] },
  {
    names: OPENAI_PICTURES,
    options: [...SAMPLING, 'topK', 'seed', ...PENALTIES, 'stopSequences', 'reasoningEffort'],
  },
  { names: /^gpt-.*-search-(?:preview|api)/, options: [...SAMPLING, ...PENALTIES, 'n'] },
  // Anthropic, wherever its models run
  { at: ['anthropic'], options: ['seed', ...PENALTIES, 'n'] },
  { names: /^claude-/, options: ['seed', ...PENALTIES, 'n'] },
  {
    names: /^claude-/,
    when: ({ id, reasoning }) => reasoning !== false && !CLAUDE_WITH_SAMPLING.test(nameOf(id)),
    options: [...SAMPLING, 'topK'],
  },
  {
    names: CLAUDE_WITH_EITHER,
    when: (_, { temperature, topP }) => isWritten(temperature) && isWritten(topP),
    options: ['topP'],
  },
  { names: CLAUDE_WITHOUT_EFFORT, options: ['reasoningEffort'] },
  // Google
  { at: ['google', 'vertexai'], names: /^gemini-(?!1|2\.0)/, options: PENALTIES },
  // Its endpoint of Chat Completions refuses names that it doesn't know.
  {
    at: ['openai'],
    when: ({ provider }) => provider === 'googleai',
    options: ['topK', 'seed', ...PENALTIES],
  },
  { at: ['google', 'vertexai'], names: /^(?:gemini-(?:1|2\.0)|gemma|imagen)/, options: ['reasoningEffort'] },
  // Others
  { at: ['bedrock'], options: ['seed', ...PENALTIES, 'n'] },
  { at: ['bedrock'], names: /^(?!claude-)/, options: ['topK'] },
  { at: ['groq'], options: ['n'] },
  { at: ['groq'], names: /llama|gemma|kimi|allam|mistral|compound/, options: ['reasoningEffort'] },
  {
    at: ['mistral'],
    names: /^(?:open-|codestral|devstral|ministral|pixtral|voxtral|mistral-(?:large-[1-3]|tiny|nemo|saba))/,
    options: ['reasoningEffort'],
  },
  { at: ['deepseek'], options: ['seed', ...PENALTIES, 'n'] },
  {
    at: ['deepseek'],
    names: /^deepseek-(?:reasoner|v4|flash|pro)/,
    when: (_, { reasoningEffort }) => reasoningEffort !== 'none',
    options: SAMPLING,
  },
  { at: ['openrouter'], options: ['n'] },
  { at: ['cerebras'], options: PENALTIES },
  { at: ['xai'], names: /^grok-(?!2|3(?!-mini))/, options: PENALTIES },
  { at: ['xai'], names: /^grok-3/, options: ['presencePenalty'] },
  { at: ['xai'], names: /^grok-(?!2|3(?!-mini)|.*non-reasoning)/, options: ['stopSequences'] },
  {
    at: ['xai'],
    names: /^grok-(?:2|3(?!-mini)|4(?!\.[3-9])(?!.*multi-agent)|code|build)/,
    options: ['reasoningEffort'],
  },
];

/** Providers' own maxima of the temperature, if they are below 2. */
const MAX_TEMPERATURE: Partial<Record<InterfaceName, number>> = {
  anthropic: 1,
  bedrock: 1,
  mistral: 1.5,
  cerebras: 1.5,
};

/** Returns what a model's options depend on; undefined for a model that no provider runs. */
export function targetOf({ model, id = model, provider, reasoning }: ModelEntry): ModelTarget | undefined {
  if (!provider) return undefined;
  const { name, engine, baseUrl } = provider;
  const isLocal =
    LOCAL_SERVERS.has(name) || (URL.canParse(baseUrl) && isPrivateHost(new URL(baseUrl).hostname));
  return { provider: name, id, interface: engine, reasoning, isLocal };
}

const LOCAL_SERVERS: ReadonlySet<string> = new Set(['ollama', 'lmstudio', 'llamacpp', 'vllm']);

/**
 * Returns the options that a model does not take, and those that models.yaml leaves out.
 *
 * @param settings the options that are to be sent: some exclude each other
 */
export function optionsLeftOut(model: ModelEntry, settings: Settings = {}): ReadonlySet<OptionName> {
  const target = targetOf(model);
  return new Set([...(target ? unsupportedOptions(target, settings) : []), ...(model.leaveOut ?? [])]);
}

/** Returns the options that a known model does not take. */
export function unsupportedOptions(target: ModelTarget, settings: Settings = {}): ReadonlySet<OptionName> {
  const name = nameOf(target.id);
  const rules = RULES.filter(
    ({ at, names, when }) =>
      (at?.includes(target.interface) ?? true) &&
      (names?.test(name) ?? true) &&
      (when?.(target, settings) ?? true),
  );
  return new Set(rules.flatMap(({ options }) => options));
}

/** Returns a provider's own maximum of an option, if it is lower than the general one. */
export function maximumOf(
  { id, interface: engine }: ModelTarget,
  option: OptionName | 'maxOutputTokens',
): number | undefined {
  if (option !== 'temperature') return undefined;
  if (nameOf(id).startsWith('claude-')) return 1;
  const isOpenAiAtBedrock = engine === 'bedrock' && /(?:^|\.)openai\.(?!gpt-oss)/.test(id);
  return isOpenAiAtBedrock ? undefined : MAX_TEMPERATURE[engine];
}

/** Returns true for a model that thinks, false for one that does not, undefined if its name does not say. */
export function reasons({ id, reasoning }: ModelTarget): boolean | undefined {
  if (reasoning !== undefined) return reasoning;
  const name = nameOf(id);
  if (OPENAI_REASONING.test(name)) return true;
  return OPENAI_OTHER.test(name) ? false : undefined;
}

/** Returns a model's name without its maker (`openai/`, `us.anthropic.`) and the marks of a fine-tuned one. */
function nameOf(id: string): string {
  const plain = id.toLowerCase().replace(/^ft:/, '').replace(/^.*\//, '');
  return plain.replace(/^(?:[a-z]+\.)*(?=(?:claude|gpt|o\d|llama|mistral|nova|deepseek)\b)/, '');
}

/** OpenAI's own models have well-known names; `reasoning` says the same of deployments at its interfaces. */
function isOpenAi(target: ModelTarget): boolean {
  const name = nameOf(target.id);
  if (OPENAI_REASONING.test(name) || OPENAI_OTHER.test(name)) return true;
  return target.reasoning !== undefined && ['openai', 'openai-responses', 'azure'].includes(target.interface);
}

function thinksAtOpenAi(target: ModelTarget): boolean {
  return isOpenAi(target) && reasons(target) === true;
}

function isWritten(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function isAskedNotToThink({ id }: ModelTarget, { reasoningEffort }: Settings): boolean {
  return reasoningEffort === 'none' && CAN_STOP_THINKING.test(nameOf(id));
}
