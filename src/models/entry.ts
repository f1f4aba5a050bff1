import type { Modality, Model, RunOption } from '../wire/index.ts';
import type { Declared } from './declared.ts';

/** The engines a model can be run by. */
export type EngineName = 'echo' | 'card' | 'clip' | 'sandbox' | 'provider' | 'program' | 'address';

/** The interfaces by which providers are asked, under the names that `engine` has in models.yaml. */
export const INTERFACES = [
  /** Chat Completions in the form that most servers take. */
  'openai',
  'openai-responses',
  'anthropic',
  'google',
  'vertexai',
  'azure',
  'bedrock',
  'openrouter',
  'groq',
  'mistral',
  'deepseek',
  'xai',
  'together',
  'fireworks',
  'cerebras',
] as const;

export type InterfaceName = (typeof INTERFACES)[number];

/** Options that not every model takes. */
export const OPTION_NAMES = [
  'temperature',
  'topP',
  'topK',
  'seed',
  'frequencyPenalty',
  'presencePenalty',
  'stopSequences',
  'reasoningEffort',
  'n',
] as const;

export type OptionName = (typeof OPTION_NAMES)[number];

/** Where a model is reached. */
export interface Provider {
  readonly name: string;
  /** Ready to be asked, without a slash at its end. */
  readonly baseUrl: string;
  readonly engine: InterfaceName;
  /** The environment variables that may hold its key, the first that is set counts; none of them: none is sent. */
  readonly keyVariables: readonly string[];
  /** True if it is not asked without a key. */
  readonly needsKey: boolean;
  /** Variables that its address lacks; any one of them is enough. */
  readonly missing?: readonly string[];
  /** False if it has no list of the models that a key may use; default true. */
  readonly listsModels?: boolean;
  /** Whether its models can be asked in batches at a lower price. */
  readonly batch?: boolean;
  /** What messages call the place that its address comes from, such as a variable; default `its baseUrl`. */
  readonly addressName?: string;
  /** Whether the environment names another address than the provider's own. */
  readonly isMoved?: boolean;
  /** What is wrong with the address that the environment names for it. */
  readonly fault?: string;
  /** Sent with each request besides those of the interface. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A model the service offers. */
export interface ModelEntry {
  readonly model: string;
  readonly modality: Modality;
  readonly engine: EngineName;
  readonly provider?: Provider;
  /** The program or the address that it is, if it is one. */
  readonly declared?: Declared;
  /** The provider's name of it, if it differs from `model`. */
  readonly id?: string;
  readonly runOptions: readonly RunOption[];
  /** Whether it is not described: `prefix` names its provider, `key` says that there is a key of one provider only. */
  readonly guessed?: 'prefix' | 'key';
  /** How it is asked for JSON; by default with the prompt's schema where it has one. */
  readonly responseFormat?: 'json_schema' | 'json_object' | 'none';
  /** Options that are never sent to it. */
  readonly leaveOut?: readonly OptionName[];
  /** Whether the model is one that thinks, if its name does not say so. */
  readonly reasoning?: boolean;
  /** What a run costs, in credits. */
  readonly credits: number;
  /** What it costs in money; undefined if that is not described. */
  readonly price?: Price;
  /** The day on which its provider shuts it down, as 2026-11-30. */
  readonly shutdownDate?: string;
}

/** What a provider takes for a model, in US dollars. */
export interface Price {
  /** A million tokens of the prompt. */
  readonly input: number;
  /** A million tokens of the answer. */
  readonly output: number;
  /** A million tokens of the prompt that come from its cache; default as `input`. */
  readonly cachedInput?: number;
  /** A picture. */
  readonly image?: number;
  /** A run of a program or an address, whatever its tokens. */
  readonly run?: number;
}

/** Settings that are numbers at the provider's. */
export const NUMBER_SETTINGS: ReadonlySet<string> = new Set([
  'temperature',
  'topP',
  'topK',
  'maxOutputTokens',
  'seed',
  'frequencyPenalty',
  'presencePenalty',
]);

/**
 * Settings that prompts carry for whatever model they are run by, and that take values no list could hold: a model need
 * not list them, and one that has no use for them ignores them.
 */
export const PROVIDER_SETTINGS: ReadonlySet<string> = new Set([
  ...NUMBER_SETTINGS,
  'stopSequences',
  'reasoningEffort',
  'serviceTier',
]);

/** The model as `GET /resources` shows it. */
export function wireModel({ model, modality, runOptions }: ModelEntry): Model {
  return {
    model,
    modality,
    availableRunOptions: runOptions.map(({ key, options }) => ({ key, options: [...options] })),
  };
}

/** The models that need nothing but this process. */
export const BUILT_IN_MODELS: readonly ModelEntry[] = [
  { model: 'echo', modality: 'text', engine: 'echo', runOptions: [], credits: 1 },
  {
    model: 'card',
    modality: 'image',
    engine: 'card',
    runOptions: [{ key: 'quality', options: ['low', 'medium', 'high'] }],
    credits: 4,
  },
  { model: 'clip', modality: 'video', engine: 'clip', runOptions: [], credits: 8 },
  {
    model: 'sandbox',
    modality: 'text',
    engine: 'sandbox',
    runOptions: [
      { key: 'delaySeconds', options: ['0', '1', '5', '30', '130'] },
      { key: 'outcome', options: ['succeeded', 'failed', 'partial'] },
    ],
    credits: 1,
  },
];

/** Names no other model can take. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(BUILT_IN_MODELS.map(({ model }) => model));

const SOON_MS = 90 * 24 * 60 * 60_000;

/** The shutdown of a model, if it is known and at most 90 days away. */
export function shutdownOf({ model, shutdownDate: date }: ModelEntry, nowMs: number) {
  const left = date === undefined ? Number.NaN : Date.parse(date) - nowMs;
  return date !== undefined && left <= SOON_MS ? { model, date, isPast: left <= 0 } : undefined;
}

/** The shutdown of a model in words. */
export function shutdownNote({ model, date, isPast }: NonNullable<ReturnType<typeof shutdownOf>>): string {
  return `the model ${model} ${isPast ? 'was' : 'is to be'} shut down on ${date}`;
}
