import type { ImageModelV4, LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { InterfaceName } from '../entry.ts';
import type { Form } from './answer.ts';
import { CHAT } from './forms/chat.ts';
import { CONVERSE } from './forms/converse.ts';
import { GEMINI } from './forms/gemini.ts';
import { MESSAGES } from './forms/messages.ts';
import { RESPONSES } from './forms/responses.ts';
import { withoutTrailingSlash } from './provider-address.ts';

/** What every client is made with. Nothing is left for it to look up in the environment. */
export interface ClientSettings {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly headers: Record<string, string>;
  readonly fetch: typeof globalThis.fetch;
}

/** A model as its provider is asked for it. */
export interface Wanted {
  readonly provider: string;
  readonly id: string;
}

/** What a prompt asks of a model besides the options that every client takes. */
export interface Extras {
  readonly effort: string | undefined;
  /** True if every object of the schema is closed and names all its properties as required. */
  readonly strict: boolean;
  /** True or false if it is known that the model thinks, or doesn't. */
  readonly reasons: boolean | undefined;
}

/** One interface of providers: the client that speaks it, and how its answers are read. */
export interface Interface {
  form(wanted: Wanted): Form;
  /** Loads the client, and no other. */
  language(settings: ClientSettings, wanted: Wanted): Promise<LanguageModelV4>;
  /** Undefined if models that draw are asked by chat, or there are none. */
  readonly image?: (settings: ClientSettings, wanted: Wanted) => Promise<ImageModelV4>;
  /** What models that draw are asked for besides if they are asked like others; undefined if they are not. */
  drawsByChat?(wanted: Wanted, aspectRatio: unknown): Readonly<Record<string, unknown>> | undefined;
  /** Why a model can't be asked for pictures, as advice on what to name in its place; undefined if it can. */
  insteadOf?(wanted: Wanted): string | undefined;
  /** True if a picture is drawn in its own time, and has to be asked for until it is there. */
  drawsLater?(wanted: Wanted): boolean;
  /** `size` if a picture's ratio goes as the nearest size; default `ratio`, as itself. */
  ratioAs?(wanted: Wanted): 'size' | 'ratio';
  options(extras: Extras): Pick<LanguageModelV4CallOptions, 'providerOptions' | 'reasoning'>;
  /** Where keys of `config` go that are no options: the body, in snake case, or its `generationConfig`. */
  readonly configIn?: 'generationConfig';
  /** Added to each request, unless `config` says otherwise. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** True if system messages can't stand between others. */
  readonly systemFirst?: boolean;
  /** The name of `topK` if the client leaves it out of what the provider takes. */
  readonly topK?: string;
  /** The name of `n`; undefined if one answer is all there is. */
  readonly count?: string;
  /** True if the client puts into words that it wants JSON, even if the prompt says so already. */
  readonly saysJson?: true;
  /** Default: as a schema. */
  json?(wanted: Wanted): 'schema' | 'object' | 'words';
}

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;

/** Returns the effort as clients take it that know what each model makes of it; nothing for a word that they don't know. */
export function sharedEffort(effort: string | undefined): Pick<LanguageModelV4CallOptions, 'reasoning'> {
  const reasoning = EFFORTS.find(one => one === effort);
  return reasoning === undefined ? {} : { reasoning };
}

function defined<T>(values: Record<string, T | undefined>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

/** Chat Completions as most servers take them. */
const COMPATIBLE = {
  form: () => CHAT,
  async language(settings, { provider, id }) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const client = createOpenAICompatible({
      ...settings,
      name: provider,
      supportsStructuredOutputs: true,
      includeUsage: true,
    });
    return client.chatModel(id);
  },
  async image(settings, { provider, id }) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    return createOpenAICompatible({ ...settings, name: provider }).imageModel(id);
  },
  options: ({ effort, strict }) => ({
    providerOptions: {
      openaiCompatible: defined({ reasoningEffort: effort, strictJsonSchema: strict }),
    },
  }),
  ratioAs: () => 'size',
  topK: 'top_k',
  count: 'n',
} satisfies Interface;

const { topK: ___, ...COMPATIBLE_WITHOUT_TOP_K } = COMPATIBLE;

/** OpenRouter asks each model for one answer. */
const { count: ____, ...COMPATIBLE_WITHOUT_COUNT } = COMPATIBLE;

/** The same without pictures, and without what only local servers take. */
function plain(more: Pick<Interface, 'language' | 'options'> & Partial<Interface>): Interface {
  return { form: () => CHAT, count: 'n', ...more };
}

function openAiOptions({ effort, strict, reasons }: Extras): ReturnType<Interface['options']> {
  return {
    providerOptions: {
      openai: defined<string | boolean | null>({
        reasoningEffort: effort,
        // By default a summary is asked for with each effort, which not every account may have.
        reasoningSummary: effort === undefined ? undefined : null,
        strictJsonSchema: strict,
        forceReasoning: reasons,
      }),
    },
  };
}

/** Chat Completions of OpenAI itself, which judges a model by its name. */
const OPENAI_CHAT: Interface = {
  form: () => CHAT,
  language: async (settings, { id }) => (await import('@ai-sdk/openai')).createOpenAI(settings).chat(id),
  image: async (settings, { id }) => (await import('@ai-sdk/openai')).createOpenAI(settings).image(id),
  options: extras => {
    const { providerOptions } = openAiOptions(extras);
    const { reasoningSummary: _, ...openai } = providerOptions?.['openai'] ?? {};
    return { providerOptions: { openai } };
  },
  ratioAs: () => 'size',
  count: 'n',
  // Models of before 2024-08 know no schemas.
  json: ({ id }) => (/^gpt-(?:3\.5|4(?:-turbo|-\d{4}|$))/.test(id) ? 'object' : 'schema'),
};

const { count: _, json: __, ...OPENAI_BASE } = OPENAI_CHAT;

const OPENAI_RESPONSES: Interface = {
  ...OPENAI_BASE,
  form: () => RESPONSES,
  language: async (settings, { id }) => (await import('@ai-sdk/openai')).createOpenAI(settings).responses(id),
  options: openAiOptions,
  defaults: { store: false },
};

/** Azure takes a key in a header of its own, where OpenAI's client sends a bearer token. */
const AZURE: Interface = {
  ...OPENAI_RESPONSES,
  language: async (settings, wanted) => await OPENAI_RESPONSES.language(withApiKey(settings), wanted),
  image: async (settings, { id }) =>
    (await import('@ai-sdk/openai')).createOpenAI(withApiKey(settings)).image(id),
};

function withApiKey(settings: ClientSettings): ClientSettings {
  return {
    ...settings,
    fetch: async (input, init) => {
      const headers = new Headers(init?.headers);
      headers.delete('authorization');
      headers.set('api-key', settings.apiKey);
      return await settings.fetch(input, { ...init, headers });
    },
  };
}

const GOOGLE: Interface = {
  form: () => GEMINI,
  language: async (settings, { id }) => (await import('@ai-sdk/google')).createGoogle(settings)(id),
  insteadOf: () => 'Google no longer offers Imagen: name a Gemini model that draws',
  drawsByChat: ({ id }, aspectRatio) =>
    id.includes('imagen')
      ? undefined
      : {
          responseModalities: ['TEXT', 'IMAGE'],
          ...(aspectRatio !== undefined && { imageConfig: { aspectRatio } }),
        },
  options: ({ effort }) => sharedEffort(effort),
  configIn: 'generationConfig',
  systemFirst: true,
  count: 'candidateCount',
};

function claudeOptions({ effort }: Extras): ReturnType<Interface['options']> {
  // JSON that comes as the input of a tool would otherwise be asked for in a beta that does not check it.
  return { providerOptions: { anthropic: defined<string | boolean>({ effort, toolStreaming: false }) } };
}

const ANTHROPIC: Interface = {
  form: () => MESSAGES,
  language: async ({ baseURL, ...settings }, { id }) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ ...settings, baseURL: `${withoutTrailingSlash(baseURL)}/v1` })(id);
  },
  options: claudeOptions,
  systemFirst: true,
};

function isClaude({ id }: Wanted): boolean {
  return id.includes('anthropic.') || id.startsWith('claude');
}

/** A region that nothing is looked up for: the address says where it is. */
const REGION = { region: 'us-east-1' };

/** How each interface is spoken. */
export const CLIENTS = {
  openai: COMPATIBLE,
  'openai-chat': OPENAI_CHAT,
  'openai-responses': OPENAI_RESPONSES,
  azure: AZURE,
  anthropic: ANTHROPIC,
  google: GOOGLE,
  vertexai: GOOGLE,
  bedrock: {
    form: wanted => (isClaude(wanted) ? MESSAGES : CONVERSE),
    async language(settings, wanted) {
      if (isClaude(wanted)) {
        const { createAmazonBedrockAnthropic } = await import('@ai-sdk/amazon-bedrock/anthropic');
        return createAmazonBedrockAnthropic({ ...settings, ...REGION })(wanted.id);
      }
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
      return createAmazonBedrock({ ...settings, ...REGION })(wanted.id);
    },
    async image(settings, { id }) {
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
      return createAmazonBedrock({ ...settings, ...REGION }).image(id);
    },
    insteadOf: ({ id }) =>
      /amazon\.(?:nova-canvas|titan-image)/.test(id) ? undefined : 'name amazon.nova-canvas-v1:0',
    ratioAs: () => 'size',
    options: extras => ({ ...sharedEffort(extras.effort), ...claudeOptions(extras) }),
    systemFirst: true,
  },
  openrouter: {
    ...COMPATIBLE_WITHOUT_COUNT,
    drawsByChat: (_, aspectRatio) => ({
      modalities: ['image', 'text'],
      ...(aspectRatio !== undefined && { imageConfig: { aspect_ratio: aspectRatio } }),
    }),
  },
  together: {
    ...COMPATIBLE,
    image: async (settings, { id }) =>
      (await import('@ai-sdk/togetherai')).createTogetherAI(settings).image(id),
  },
  xai: {
    ...COMPATIBLE_WITHOUT_TOP_K,
    ratioAs: () => 'ratio',
    image: async (settings, { id }) => (await import('@ai-sdk/xai')).createXai(settings).image(id),
  },
  groq: plain({
    language: async (settings, { id }) => (await import('@ai-sdk/groq')).createGroq(settings)(id),
    options: ({ effort, strict }) => ({
      providerOptions: { groq: defined({ reasoningEffort: effort, strictJsonSchema: strict }) },
    }),
    // The others take JSON, but refuse a schema.
    json: ({ id }) => (/gpt-oss|kimi-k2|llama-4|qwen/.test(id) ? 'schema' : 'object'),
  }),
  mistral: plain({
    language: async (settings, { id }) => (await import('@ai-sdk/mistral')).createMistral(settings)(id),
    options: ({ effort, strict }) => ({
      ...sharedEffort(effort),
      providerOptions: { mistral: { strictJsonSchema: strict } },
    }),
    saysJson: true,
  }),
  deepseek: plain({
    language: async (settings, { id }) => (await import('@ai-sdk/deepseek')).createDeepSeek(settings)(id),
    options: ({ effort }) => ({ providerOptions: { deepseek: defined({ reasoningEffort: effort }) } }),
    saysJson: true,
  }),
  fireworks: {
    ...COMPATIBLE,
    language: async (settings, { id }) => (await import('@ai-sdk/fireworks')).createFireworks(settings)(id),
    image: async (settings, { id }) =>
      (await import('@ai-sdk/fireworks')).createFireworks(settings).image(id),
    drawsLater: ({ id }) => id.includes('flux-kontext'),
    ratioAs: ({ id }) => (/stable-diffusion|playground|ssd-1b/i.test(id) ? 'size' : 'ratio'),
  },
  cerebras: plain({
    language: async (settings, { id }) => (await import('@ai-sdk/cerebras')).createCerebras(settings)(id),
    options: COMPATIBLE.options,
  }),
} satisfies Record<InterfaceName | 'openai-chat', Interface>;
