import type { JsonValue } from '../files/formats/json.ts';
import type { SchemaName } from '../prompts/definition.ts';
import type { MessagePart, RenderedPrompt } from '../prompts/render/render-prompt.ts';
import { isJsonObject } from '../utils/bounded-json.ts';
import type { ModelEntry } from './model-entry.ts';

/**
 * Maximum size of the texts of one answer. Many times what any model writes; a larger text would be
 * held by the store, the service and the client in more memory than one answer may take.
 */
export const MAX_TEXT_MIB = 8;

export type EngineOutput =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'video'; readonly bytes: Uint8Array; readonly mediaType: string }
  | {
      readonly type: 'error';
      readonly message: string;
      /** The message without advice for the operator of the service; default the message. */
      readonly publicMessage?: string | undefined;
    };

/** The inputs of a run, for programs and addresses. */
export interface JobInputs {
  /** The inputs as text, as sent; defaults included. */
  readonly texts: Readonly<Record<string, string>>;
  /** The inputs as values of the types in the prompt's schema. */
  readonly values: Readonly<Record<string, JsonValue>>;
}

/**
 * The values that expressions select in an answer, by the expressions' names, or the fault of an
 * answer that is not JSON or of an expression that can't be evaluated.
 */
export type SelectedValues =
  | { readonly found: Readonly<Record<string, JsonValue>> }
  | { readonly fault: string };

/** A run, for the engine of its model. */
export interface EngineJob extends PromptJob {
  readonly runId: string;
  /** The trace context, passed on to the model's provider. */
  readonly traceparent?: string | undefined;
  readonly inputs: JobInputs;
  /** Evaluates JMESPath over an answer in bounded time and memory. @throws {LimitExceededError} */
  selectValues(
    text: string,
    expressions: Readonly<Record<string, string>>,
  ): Promise<SelectedValues>;
}

/** A prompt for a model, in a run or in a batch. */
export interface PromptJob {
  readonly model: ModelEntry;
  readonly prompt: RenderedPrompt;
  /**
   * The options of the prompt, overridden by those of the run. The prompt's have types, the run's
   * are text.
   */
  readonly runOptions: Readonly<Record<string, unknown>>;
  /** Set if the prompt asks for JSON. */
  readonly json?:
    | {
        readonly schema?: unknown;
        /**
         * The name and strictness of the schema at the provider; default `output`, and strict if
         * possible.
         */
        readonly schemaName?: SchemaName | undefined;
      }
    | undefined;
  /** Called with each piece of text if the model can stream; undefined if nobody listens. */
  readonly onText?: ((piece: string) => void) | undefined;
  readonly signal: AbortSignal;
  /** Resolves after `ms`; rejects with the signal's reason once it is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** The usage of a run as reported by the provider. */
export interface ProviderUsage {
  /** Tokens of the prompt, including cached ones. */
  readonly input: number;
  /** Tokens of the answer, including thinking. */
  readonly output: number;
  /** Tokens of the prompt read from the provider's cache. */
  readonly cached: number;
  /** Tokens of the prompt written to the provider's cache. */
  readonly cacheWritten?: number;
  /** The price class that the provider says it used. */
  readonly tier?: string;
  /** The cost in US dollars, if the provider reports it. */
  readonly dollars?: number;
}

/**
 * The reason why a run failed before a model answered: the provider refused the key or the account,
 * the account's quota is used up, the provider stayed busy through all retries, or no request
 * reached it; the program could not be started, or can't take a value of the prompt (`unfit`).
 */
export type EngineFault =
  | 'unauthorised'
  | 'quota'
  | 'busy'
  | 'unreachable'
  | 'not-started'
  | 'unfit';

export interface EngineResult {
  readonly outputs: readonly EngineOutput[];
  /** Total tokens; at least 1 unless the run failed. */
  readonly tokens: number;
  /** The usage, if the provider reports it; also of a failed run, which may have been paid for. */
  readonly usage?: ProviderUsage | undefined;
  /** The cost in US dollars, if a program or an address reports it. */
  readonly dollars?: number | undefined;
  /** True if the provider refused the run or never received it, so that it cost nothing. */
  readonly isRefused?: boolean;
  /**
   * Set only if `failed`; undefined for other faults, and for one after the model began to answer.
   */
  readonly fault?: EngineFault | undefined;
  /** True if the request was sent and nothing came back; default false. */
  readonly isUnanswered?: boolean;
  /**
   * Notes on what was left out of the request, such as
   * `gpt-5.6 does not take temperature: left out`.
   */
  readonly warnings?: readonly string[] | undefined;
  /** True if the run failed; a successful one may have error outputs too. */
  readonly hasFailed: boolean;
}

/**
 * Runs rendered prompts. Rejects only with the signal's reason; faults of a model become error
 * outputs.
 */
export interface Engine {
  run(job: EngineJob): Promise<EngineResult>;
  /** Reads an answer to this job from a provider batch. */
  readBatchAnswer?(job: EngineJob, body: Record<string, unknown>): Promise<EngineResult>;
  /** Ends the programs that wait for further runs; the next run starts one again. */
  endPersistentPrograms?(): Promise<void>;
}

/** Returns a failed result with only an error output. */
export function createFailedResult(message: string, publicMessage?: string): EngineResult {
  const output: EngineOutput =
    publicMessage === undefined || publicMessage === message
      ? { type: 'error', message }
      : { type: 'error', message, publicMessage };
  return { outputs: [output], tokens: 0, hasFailed: true };
}

/** Returns the result of a run that sent nothing and cost nothing. */
export function createRefusedResult(message: string, fault: EngineFault): EngineResult {
  return { ...createFailedResult(message), isRefused: true, fault };
}

/** Returns the text of a message, without images. */
export function joinMessageText(parts: readonly MessagePart[]): string {
  return parts.map(part => ('text' in part ? part.text : '')).join('');
}

/**
 * Estimates the tokens of a text, for engines that report none: one for four characters, at least
 * one.
 */
export function estimateTokens(text: string): number {
  return Math.max(1, Math.ceil(text.length / 4));
}

/**
 * Returns the instruction to answer with JSON, because some providers do so only if the prompt has
 * the word. Undefined if the prompt doesn't ask for JSON, or has the word and no schema to add.
 */
export function buildJsonInstruction({
  prompt,
  json,
}: Pick<PromptJob, 'prompt' | 'json'>): string | undefined {
  if (json === undefined) return undefined;
  if (isJsonObject(json.schema)) {
    return `Answer with JSON that matches this JSON Schema, and with nothing else:\n${JSON.stringify(json.schema)}`;
  }
  const mentionsJson = prompt.messages.some(({ parts }) => /json/i.test(joinMessageText(parts)));
  return mentionsJson ? undefined : 'Answer with JSON.';
}
