import type Anthropic from '@anthropic-ai/sdk';
import type { ConverseRequest } from '@aws-sdk/client-bedrock-runtime';
import type { ChatCompletionCreateParams as CerebrasParams } from '@cerebras/cerebras_cloud_sdk/resources/chat/completions';
import type {
  Content,
  GenerateContentConfig,
  GenerationConfig,
  SafetySetting,
} from '@google/genai';
import type { ChatCompletionRequest$Outbound } from '@mistralai/mistralai/models/components';
import type { ChatRequest$Outbound } from '@openrouter/sdk/models';
import type { ChatCompletionCreateParams } from 'groq-sdk/resources/chat/completions';
import type OpenAI from 'openai';
import type { CompletionCreateParams as TogetherParams } from 'together-ai/resources/chat/completions';

/** A request as it was sent. */
export interface Sent<Body> {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
  /** The warnings of the run about options that were left out or changed. */
  readonly warnings: readonly string[];
}

/** Requests by model and case. */
export type SentRequests<Body> = Readonly<Record<string, Sent<Body>>>;

export type OpenAiResponses = OpenAI.Responses.ResponseCreateParams;
export type OpenAiChat = OpenAI.ChatCompletionCreateParams;

/** Pictures are drawn from JSON and changed by a form, whose fields are texts. */
export type OpenAiImage =
  | OpenAI.ImageGenerateParams
  | { [Key in keyof OpenAI.ImageEditParams]?: string };

/** xAI changes pictures by JSON too. */
export type XaiImage = OpenAI.ImageGenerateParams & {
  readonly aspect_ratio?: string;
  readonly image?: { readonly url: string; readonly type: 'image_url' };
};

/** Pictures at Together, by its documentation. */
export interface TogetherImage {
  readonly model: string;
  readonly prompt: string;
  readonly n?: number;
  readonly width?: number;
  readonly height?: number;
  readonly image_url?: string;
  readonly response_format: 'base64' | 'url';
}

/** Amazon's Nova Canvas, by its documentation. */
export interface NovaCanvas {
  readonly taskType: 'TEXT_IMAGE' | 'IMAGE_VARIATION';
  readonly textToImageParams?: { readonly text: string };
  readonly imageVariationParams?: { readonly images: readonly string[]; readonly text?: string };
  readonly imageGenerationConfig?: {
    readonly numberOfImages?: number;
    readonly width?: number;
    readonly height?: number;
  };
}

/** The workflows of Fireworks, by their documentation. */
export interface FireworksImage {
  readonly prompt: string;
  readonly samples?: number;
  readonly aspect_ratio?: string;
  readonly width?: string;
  readonly height?: string;
  readonly input_image?: string;
}

/** OpenRouter has no endpoint for pictures: a chat answers with them. */
export type OpenRouterImage = Omit<OpenAI.ChatCompletionCreateParams, 'modalities'> & {
  readonly modalities: ('image' | 'text')[];
  readonly image_config?: { readonly aspect_ratio?: string };
};

/** Servers on one's own machine take this besides what OpenAI takes. */
interface MoreSampling {
  readonly top_k?: number;
}

export type LocalChat = OpenAiChat & MoreSampling;

/** Fireworks has no client of its own; its documentation has these. It refuses other names. */
export type Fireworks = Pick<
  OpenAiChat,
  | 'frequency_penalty'
  | 'max_tokens'
  | 'messages'
  | 'model'
  | 'n'
  | 'presence_penalty'
  | 'reasoning_effort'
  | 'response_format'
  | 'seed'
  | 'stop'
  | 'stream'
  | 'stream_options'
  | 'temperature'
  | 'top_p'
> &
  MoreSampling;

/**
 * Together's client leaves out what some of its models need to count a stream (vercel/ai, pull
 * request 17986).
 */
export type Together = TogetherParams & {
  readonly stream_options?: { readonly include_usage: true };
};

export type OpenRouter = Omit<ChatRequest$Outbound, 'stream'> & { readonly stream?: boolean };
export type Cerebras = CerebrasParams;

export type Groq = ChatCompletionCreateParams;

/** Mistral's client sends `stream` with every request; the service doesn't want it. */
export type Mistral = Omit<ChatCompletionRequest$Outbound, 'stream'> & { stream?: boolean };

/**
 * Version 2023-06-01 of Messages takes these of older models; the client's types are of a newer
 * one.
 */
interface Sampling {
  readonly temperature?: number;
  readonly top_k?: number;
  readonly top_p?: number;
}

export type Messages = Anthropic.MessageCreateParams & Sampling;

export type BedrockMessages = Omit<Messages, 'model' | 'stream'> & {
  readonly anthropic_version: 'bedrock-2023-05-31';
};

/** The value of an enum as it is sent: its text, which Google also reads in small letters. */
type Wire<T> = T extends string
  ? string extends T
    ? string
    : `${T}` | Lowercase<`${T}`>
  : T extends readonly (infer Item)[]
    ? Wire<Item>[]
    : T extends object
      ? { [Key in keyof T]: Wire<T[Key]> }
      : T;

/** Google's client takes these apart in its types, and puts them together in one body. */
export interface GenerateContent {
  readonly contents: Wire<Content>[];
  readonly systemInstruction?: Wire<Content>;
  readonly generationConfig?: Wire<
    Omit<GenerationConfig, 'responseSchema'> & Pick<GenerateContentConfig, 'imageConfig'>
  > & { responseSchema?: object };
  readonly safetySettings?: Wire<SafetySetting>[];
}

/** Bytes travel as base64. */
type Base64<T> = T extends Uint8Array
  ? string
  : T extends readonly (infer Item)[]
    ? Base64<Item>[]
    : T extends object
      ? { [Key in keyof T]: Base64<T[Key]> }
      : T;

/** Amazon's client puts the model into the URL; schemas are documents of any form. */
export interface Converse
  extends Omit<
    Base64<Omit<ConverseRequest, 'additionalModelRequestFields' | 'toolConfig'>>,
    'modelId'
  > {
  readonly toolConfig?: {
    readonly tools: readonly {
      toolSpec: { name: string; description?: string; inputSchema: { json: object } };
    }[];
    readonly toolChoice?: { any: object } | { auto: object } | { tool: { name: string } };
  };
}

/** A file of requests and the batch that is made of it, as OpenAI takes them. */
export interface SentBatch<Url, Body> {
  readonly file: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly purpose: OpenAI.FilePurpose;
    readonly lines: readonly { custom_id: string; method: 'POST'; url: Url; body: Body }[];
  };
  readonly batch: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: OpenAI.BatchCreateParams;
  };
}

export type ResponsesBatch = SentBatch<
  '/v1/responses',
  OpenAI.Responses.ResponseCreateParamsNonStreaming
>;

export type ChatBatch = SentBatch<
  '/v1/chat/completions',
  OpenAI.ChatCompletionCreateParamsNonStreaming
>;

export interface MessagesBatch {
  readonly batch: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: {
      readonly requests: readonly {
        custom_id: string;
        params: Anthropic.MessageCreateParamsNonStreaming & Sampling;
      }[];
    };
  };
}
