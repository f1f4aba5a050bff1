import type { ImageModelV4, LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { AnswerFormat } from '../answers/model-answer.ts';

/** The settings of every client, complete: a client looks up nothing in the environment. */
export interface ClientSettings {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly headers: Record<string, string>;
  readonly fetch: typeof globalThis.fetch;
}

/** A provider's model. */
export interface ModelId {
  readonly provider: string;
  readonly id: string;
}

/** Settings of a request that each client takes in its own way. */
export interface ClientExtras {
  readonly effort: string | undefined;
  /** True if every object of the schema is closed and names all its properties as required. */
  readonly isStrict: boolean;
  /** True if the model thinks, false if it does not, undefined if that is unknown. */
  readonly isReasoning: boolean | undefined;
}

/** A way to ask for JSON: with the schema, for any object, or in words. */
export type JsonMode = 'schema' | 'object' | 'words';

/** An interface of providers: its client and the format of its answers. */
export interface ProviderInterface {
  chooseAnswerFormat(modelId: ModelId): AnswerFormat;
  /** Loads the client of this interface only. */
  loadLanguageModel(settings: ClientSettings, modelId: ModelId): Promise<LanguageModelV4>;
  /** Undefined if image models use the chat interface, or there are none. */
  readonly loadImageModel?: (settings: ClientSettings, modelId: ModelId) => Promise<ImageModelV4>;
  /**
   * Returns the extra fields for an image model that uses the chat interface; undefined for any
   * other.
   */
  buildChatDrawingFields?(
    modelId: ModelId,
    aspectRatio: unknown,
  ): Readonly<Record<string, unknown>> | undefined;
  /** Returns advice on which model to use instead of one that can't draw; undefined if it can. */
  findDrawingAdvice?(modelId: ModelId): string | undefined;
  /** Returns true if the provider draws asynchronously, so that the result has to be polled. */
  drawsAsynchronously?(modelId: ModelId): boolean;
  /** Returns `size` to send the nearest size instead of an aspect ratio; default `ratio`. */
  chooseRatioField?(modelId: ModelId): 'size' | 'ratio';
  buildClientOptions(
    extras: ClientExtras,
  ): Pick<LanguageModelV4CallOptions, 'providerOptions' | 'reasoning'>;
  /**
   * The field for keys of `config` that are not options; default the body itself, in snake case.
   */
  readonly configField?: 'generationConfig';
  /** Fields of each request, unless `config` sets them. */
  readonly defaultFields?: Readonly<Record<string, unknown>>;
  /** True if system messages must come before all others. */
  readonly needsSystemFirst?: boolean;
  /** The provider's name of `topK` if its client does not send it. */
  readonly topKField?: string;
  /** The provider's name of `n`; undefined if it returns only one answer. */
  readonly countField?: string;
  /**
   * True if the client itself adds words about JSON to the prompt, even if the prompt has some.
   */
  readonly addsJsonWords?: boolean;
  /** Returns how to ask a model for JSON; default `schema`. */
  chooseJsonMode?(modelId: ModelId): JsonMode;
}

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;

/**
 * Returns the effort as an option that all clients share; empty for a word that they don't know.
 */
export function toSharedEffort(
  effort: string | undefined,
): Pick<LanguageModelV4CallOptions, 'reasoning'> {
  const reasoning = EFFORTS.find(knownEffort => knownEffort === effort);
  return reasoning === undefined ? {} : { reasoning };
}
