import type { JsonValue } from '../files/json.ts';
import type { SchemaName } from '../prompts/definition.ts';
import type { MessagePart, RenderedPrompt } from '../prompts/render/render-prompt.ts';
import type { ModelEntry } from './entry.ts';

/** One thing an engine made. */
export type EngineOutput =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'video'; readonly bytes: Uint8Array; readonly mediaType: string }
  | {
      readonly type: 'error';
      readonly message: string;
      /** The message without what only the operator of the service can do about it; default the message. */
      readonly plain?: string | undefined;
    };

/** What a run was created from, for programs and addresses. */
export interface JobInputs {
  /** As they were given; defaults as texts. */
  readonly texts: Readonly<Record<string, string>>;
  /** What they stand for by the prompt's schema. */
  readonly values: Readonly<Record<string, JsonValue>>;
}

/** What expressions found in an answer, by their names; a fault if it is not JSON, or an expression can't be evaluated. */
export type Selected = { readonly found: Readonly<Record<string, JsonValue>> } | { readonly fault: string };

/** A run, for the engine of its model. */
export interface EngineJob extends PromptJob {
  readonly runId: string;
  /** Goes on to whoever is asked, so that traces hang together. */
  readonly traceparent?: string | undefined;
  readonly inputs: JobInputs;
  /** Evaluates JMESPath over an answer in bounded time and memory. @throws {PastBound} */
  select(text: string, expressions: Readonly<Record<string, string>>): Promise<Selected>;
}

/** A prompt for a model, however it is asked. */
export interface PromptJob {
  readonly model: ModelEntry;
  readonly prompt: RenderedPrompt;
  /** The prompt's defaults, typed as its file has them, with the run's own laid over them, which are texts. */
  readonly runOptions: Readonly<Record<string, unknown>>;
  /** What the answer must be where the prompt asks for JSON; undefined where it does not. */
  readonly json?:
    | {
        readonly schema?: unknown;
        /** What the provider is told of the schema; default `output`, strictly if it can be. */
        readonly named?: SchemaName | undefined;
      }
    | undefined;
  /** Called with the text piece by piece where the model can stream; undefined where nobody listens. */
  readonly onText?: ((piece: string) => void) | undefined;
  readonly signal: AbortSignal;
  /** Resolves after `ms`; rejects with the signal's reason once it is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** What a provider says a run used. */
export interface Usage {
  /** Tokens of the prompt, cached ones among them. */
  readonly input: number;
  /** Tokens of the answer, thinking included. */
  readonly output: number;
  /** Tokens of the prompt that were read from the provider's cache. */
  readonly cached: number;
  /** Tokens of the prompt that were written to the provider's cache. */
  readonly cacheWritten?: number;
  /** The price class that the provider says it used. */
  readonly tier?: string;
  /** What the run cost, in US dollars, if the provider says so itself. */
  readonly dollars?: number;
}

/**
 * Why a run failed before a model answered: the provider refused the key or the account, the account's quota is used up,
 * the provider stayed busy through all retries, or no request reached it; the program could not be started, or can't be
 * given what is to be filled in.
 */
export type EngineFault = 'unauthorised' | 'quota' | 'busy' | 'unreachable' | 'not-started' | 'unfit';

export interface EngineResult {
  /** In order. */
  readonly outputs: readonly EngineOutput[];
  /** At least 1 unless the run failed. */
  readonly tokens: number;
  /** undefined if the provider does not say; of a failed run too, because it may have been paid for. */
  readonly usage?: Usage | undefined;
  /** What the run cost, in US dollars, if a program or an address says so. */
  readonly dollars?: number | undefined;
  /** Whether the provider refused it, or never heard of it: then it cost nothing. */
  readonly isRefused?: boolean;
  /** Set only if `failed`; undefined for any other failure, and for one after the model began to answer. */
  readonly fault?: EngineFault | undefined;
  /** What was left out of the request, one sentence each, such as `gpt-5.6 does not take temperature: left out`. */
  readonly warnings?: readonly string[] | undefined;
  /** A run can carry error outputs and still succeed. */
  readonly failed: boolean;
}

/** Something that runs rendered prompts. Rejects only with the signal's reason; faults of a model become error outputs. */
export interface Engine {
  run(job: EngineJob): Promise<EngineResult>;
  /** Takes an answer that came otherwise, in a batch of the provider, for one to this job. */
  read?(job: EngineJob, body: Record<string, unknown>): Promise<EngineResult>;
}

/** A result that is nothing but a fault. */
export function failedWith(message: string, plain?: string): EngineResult {
  const output = {
    type: 'error' as const,
    message,
    ...(plain !== undefined && plain !== message && { plain }),
  };
  return { outputs: [output], tokens: 0, failed: true };
}

/** A result of a run that asked nobody, and cost nothing. */
export function refusedWith(message: string, fault: EngineFault): EngineResult {
  return { ...failedWith(message), isRefused: true, fault };
}

/** The text of a message, without its pictures. */
export function messageText(parts: readonly MessagePart[]): string {
  return parts.map(part => ('text' in part ? part.text : '')).join('');
}

/** A rough count, for engines that do not report one: four characters each, at least one. */
export function roughTokens(text: string): number {
  return Math.max(1, Math.ceil(text.length / 4));
}

/** What a model is told that is to answer with JSON. */
export function jsonWords(schema?: object): string {
  if (schema === undefined) return 'Answer with JSON.';
  return `Answer with JSON that matches this JSON Schema, and with nothing else:\n${JSON.stringify(schema)}`;
}

/** True if the prompt has the word "json" in it, which some providers want to see before they answer with it. */
export function saysJson({ prompt }: Pick<PromptJob, 'prompt'>): boolean {
  return prompt.messages.some(({ parts }) => /json/i.test(messageText(parts)));
}
