import type { Modality, Model, RunOption } from '../wire/index.ts';
import type { DeclaredModel } from './declared-model.ts';

export type EngineName = 'echo' | 'card' | 'clip' | 'sandbox' | 'provider' | 'program' | 'address';

/** The interfaces of providers, by their names in models.yaml (`engine`). */
export const INTERFACE_NAMES = [
  /** Chat Completions as most servers implement them. */
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

export type InterfaceName = (typeof INTERFACE_NAMES)[number];

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

export interface Provider {
  readonly name: string;
  /** The base URL of requests, without a trailing slash. */
  readonly baseUrl: string;
  readonly interfaceName: InterfaceName;
  /**
   * The environment variables of its key; the first that is set counts. Without one, no key is
   * sent.
   */
  readonly keyVariables: readonly string[];
  readonly needsKey: boolean;
  /** Variables that would complete its address; any one of them is enough. */
  readonly missingVariables?: readonly string[];
  /** False if it can't list the models that a key may use; default true. */
  readonly listsModels?: boolean;
  /** True if it takes batches at a lower price. */
  readonly takesBatches?: boolean;
  /** The name of the address's source in messages, such as a variable; default `its baseUrl`. */
  readonly addressName?: string;
  /** True if the environment sets an address other than the provider's own. */
  readonly hasCustomBaseUrl?: boolean;
  /** The fault of its address in the environment. */
  readonly addressFault?: string;
  /** Extra headers of each request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A model that the service offers. */
export interface ModelEntry {
  readonly model: string;
  readonly modality: Modality;
  readonly engine: EngineName;
  readonly provider?: Provider;
  /** The program or address that answers instead of a provider. */
  readonly declaration?: DeclaredModel;
  /** The provider's name for it, if it differs from `model`. */
  readonly id?: string;
  readonly runOptions: readonly RunOption[];
  /**
   * Set if models.yaml doesn't describe it: its provider follows from a `prefix`, or from the only
   * `key`.
   */
  readonly guessedFrom?: 'prefix' | 'key';
  /** The way to request JSON from it; default: with the prompt's schema, if there is one. */
  readonly responseFormat?: 'json_schema' | 'json_object' | 'none';
  /** Options never to send. */
  readonly omittedOptions?: readonly OptionName[];
  /** True for a reasoning model, false for another one; default judged by its name. */
  readonly isReasoning?: boolean;
  /** The price of a run, in credits. */
  readonly credits: number;
  /** The price in money, if models.yaml has one. */
  readonly price?: Price;
  /** The day of its shutdown, such as 2026-11-30. */
  readonly shutdownDate?: string;
}

/** The price of a model, in US dollars. */
export interface Price {
  /** Per million tokens of the prompt. */
  readonly input: number;
  /** Per million tokens of the answer. */
  readonly output: number;
  /** Per million tokens of the prompt that come from the cache; default as `input`. */
  readonly cachedInput?: number;
  /** Per image. */
  readonly image?: number;
  /** Per run of a program or an address, regardless of tokens. */
  readonly run?: number;
}

/** Settings that providers take as numbers. */
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
 * Settings that a prompt may have for any model. They are not listed among a model's run options,
 * because their values can't be listed; models without a use for them ignore them.
 */
export const PROVIDER_SETTINGS: ReadonlySet<string> = new Set([
  ...NUMBER_SETTINGS,
  'stopSequences',
  'reasoningEffort',
  'serviceTier',
]);

/** Returns a model in the format of `GET /resources`. */
export function toWireModel({ model, modality, runOptions }: ModelEntry): Model {
  return {
    model,
    modality,
    availableRunOptions: runOptions.map(({ key, options }) => ({ key, options: [...options] })),
  };
}

/** The models that run in this process, without a provider. */
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

/** Names that no other model may have. */
export const RESERVED_MODEL_NAMES: ReadonlySet<string> = new Set(
  BUILT_IN_MODELS.map(({ model }) => model),
);

const NEAR_SHUTDOWN_MS = 90 * 24 * 60 * 60_000;

export interface Shutdown {
  readonly model: string;
  /** The day, such as 2026-11-30. */
  readonly date: string;
  readonly isPast: boolean;
}

/** Returns the shutdown of a model if it is known and at most 90 days away. */
export function findNearShutdown(
  { model, shutdownDate: date }: ModelEntry,
  nowMs: number,
): Shutdown | undefined {
  if (date === undefined) return undefined;
  const remainingMs = Date.parse(date) - nowMs;
  return remainingMs <= NEAR_SHUTDOWN_MS ? { model, date, isPast: remainingMs <= 0 } : undefined;
}

export function describeShutdown({ model, date, isPast }: Shutdown): string {
  return `the model ${model} ${isPast ? 'was' : 'will be'} shut down on ${date}`;
}
