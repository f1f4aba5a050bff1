import { withoutUndefined } from '../../../files/formats/json.ts';
import { withoutTrailingSlashes } from '../../../wire/addresses.ts';
import type { InterfaceName } from '../../model-entry.ts';
import { CHAT } from '../answers/formats/chat.ts';
import { CONVERSE } from '../answers/formats/converse.ts';
import { GEMINI } from '../answers/formats/gemini.ts';
import { MESSAGES } from '../answers/formats/messages.ts';
import { RESPONSES } from '../answers/formats/responses.ts';
import {
  type ClientExtras,
  type ClientSettings,
  type ModelId,
  type ProviderInterface,
  toSharedEffort,
} from './provider-interface.ts';

/** Chat Completions as all servers implement them: without `top_k` and `n`. */
const COMPATIBLE_BASE = {
  chooseAnswerFormat: () => CHAT,
  async loadLanguageModel(settings, { provider, id }) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const client = createOpenAICompatible({
      ...settings,
      name: provider,
      supportsStructuredOutputs: true,
      includeUsage: true,
    });
    return client.chatModel(id);
  },
  async loadImageModel(settings, { provider, id }) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    return createOpenAICompatible({ ...settings, name: provider }).imageModel(id);
  },
  buildClientOptions: ({ effort, isStrict }) => ({
    providerOptions: {
      openaiCompatible: withoutUndefined({ reasoningEffort: effort, strictJsonSchema: isStrict }),
    },
  }),
  chooseRatioField: () => 'size',
} satisfies ProviderInterface;

/** Chat Completions as most servers implement them: with `top_k` and `n`. */
const COMPATIBLE = {
  ...COMPATIBLE_BASE,
  topKField: 'top_k',
  countField: 'n',
} satisfies ProviderInterface;

/** Returns an interface without images, and without options that only local servers take. */
function createTextInterface(
  parts: Pick<ProviderInterface, 'loadLanguageModel' | 'buildClientOptions'> &
    Partial<ProviderInterface>,
): ProviderInterface {
  return { chooseAnswerFormat: () => CHAT, countField: 'n', ...parts };
}

function buildOpenAiOptions({
  effort,
  isStrict,
  isReasoning,
}: ClientExtras): ReturnType<ProviderInterface['buildClientOptions']> {
  return {
    providerOptions: {
      openai: withoutUndefined({
        reasoningEffort: effort,
        // With an effort the client requests a summary by default, which some accounts may not use.
        reasoningSummary: effort === undefined ? undefined : null,
        strictJsonSchema: isStrict,
        forceReasoning: isReasoning,
      }),
    },
  };
}

/** Matches models without JSON schemas: those older than gpt-4o-2024-08-06 and gpt-4o-mini. */
const MODEL_WITHOUT_SCHEMAS = /^(?:ft:)?gpt-(?:3\.5|4(?:-|$)|4o-2024-05-13)/;

/** OpenAI's own interfaces. Its client decides by the name of a model which options to send. */
const OPENAI_BASE = {
  loadImageModel: async (settings, { id }) =>
    (await import('@ai-sdk/openai')).createOpenAI(settings).image(id),
  chooseRatioField: () => 'size',
  chooseJsonMode: ({ id }) => (MODEL_WITHOUT_SCHEMAS.test(id) ? 'object' : 'schema'),
} satisfies Partial<ProviderInterface>;

const OPENAI_CHAT: ProviderInterface = {
  ...OPENAI_BASE,
  chooseAnswerFormat: () => CHAT,
  loadLanguageModel: async (settings, { id }) =>
    (await import('@ai-sdk/openai')).createOpenAI(settings).chat(id),
  buildClientOptions: extras => {
    const { providerOptions } = buildOpenAiOptions(extras);
    const { reasoningSummary: _, ...openai } = providerOptions?.['openai'] ?? {};
    return { providerOptions: { openai } };
  },
  countField: 'n',
};

const OPENAI_RESPONSES: ProviderInterface = {
  ...OPENAI_BASE,
  chooseAnswerFormat: () => RESPONSES,
  loadLanguageModel: async (settings, { id }) =>
    (await import('@ai-sdk/openai')).createOpenAI(settings).responses(id),
  buildClientOptions: buildOpenAiOptions,
  defaultFields: { store: false },
};

/** Azure takes the key in its own header; OpenAI's client sends a bearer token. */
const AZURE: ProviderInterface = {
  ...OPENAI_RESPONSES,
  loadLanguageModel: async (settings, modelId) =>
    await OPENAI_RESPONSES.loadLanguageModel(withApiKeyHeader(settings), modelId),
  loadImageModel: async (settings, { id }) =>
    (await import('@ai-sdk/openai')).createOpenAI(withApiKeyHeader(settings)).image(id),
};

function withApiKeyHeader(settings: ClientSettings): ClientSettings {
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

const GOOGLE: ProviderInterface = {
  chooseAnswerFormat: () => GEMINI,
  loadLanguageModel: async (settings, { id }) =>
    (await import('@ai-sdk/google')).createGoogle(settings)(id),
  findDrawingAdvice: () => 'Google no longer offers Imagen: use a Gemini model that draws',
  buildChatDrawingFields: ({ id }, aspectRatio) =>
    id.includes('imagen')
      ? undefined
      : {
          responseModalities: ['TEXT', 'IMAGE'],
          ...(aspectRatio !== undefined && { imageConfig: { aspectRatio } }),
        },
  buildClientOptions: ({ effort }) => toSharedEffort(effort),
  configField: 'generationConfig',
  needsSystemFirst: true,
  countField: 'candidateCount',
};

function buildClaudeOptions({
  effort,
}: ClientExtras): ReturnType<ProviderInterface['buildClientOptions']> {
  // With tool streaming, the client requests JSON as a tool's input through a beta that does not
  // validate it.
  return {
    providerOptions: { anthropic: withoutUndefined({ effort, toolStreaming: false }) },
  };
}

const ANTHROPIC: ProviderInterface = {
  chooseAnswerFormat: () => MESSAGES,
  loadLanguageModel: async ({ baseURL, ...settings }, { id }) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ ...settings, baseURL: `${withoutTrailingSlashes(baseURL)}/v1` })(id);
  },
  buildClientOptions: buildClaudeOptions,
  needsSystemFirst: true,
};

function isClaude({ id }: ModelId): boolean {
  return id.includes('anthropic.') || id.startsWith('claude');
}

/** A region, because the client requires one; the address names the real one. */
const PLACEHOLDER_REGION = { region: 'us-east-1' };

/** The interfaces by the names in `models.yaml`, and `openai-chat` for OpenAI itself. */
export const PROVIDER_INTERFACES = {
  // The name stands for servers that are compatible with OpenAI.
  openai: COMPATIBLE,
  'openai-chat': OPENAI_CHAT,
  'openai-responses': OPENAI_RESPONSES,
  azure: AZURE,
  anthropic: ANTHROPIC,
  google: GOOGLE,
  vertexai: GOOGLE,
  bedrock: {
    chooseAnswerFormat: modelId => (isClaude(modelId) ? MESSAGES : CONVERSE),
    async loadLanguageModel(settings, modelId) {
      if (isClaude(modelId)) {
        const { createAmazonBedrockAnthropic } = await import('@ai-sdk/amazon-bedrock/anthropic');
        return createAmazonBedrockAnthropic({ ...settings, ...PLACEHOLDER_REGION })(modelId.id);
      }
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
      return createAmazonBedrock({ ...settings, ...PLACEHOLDER_REGION })(modelId.id);
    },
    async loadImageModel(settings, { id }) {
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
      return createAmazonBedrock({ ...settings, ...PLACEHOLDER_REGION }).image(id);
    },
    findDrawingAdvice: ({ id }) =>
      /amazon\.(?:nova-canvas|titan-image)/.test(id) ? undefined : 'use amazon.nova-canvas-v1:0',
    chooseRatioField: () => 'size',
    buildClientOptions: extras => ({
      ...toSharedEffort(extras.effort),
      ...buildClaudeOptions(extras),
    }),
    needsSystemFirst: true,
  },
  openrouter: {
    // Without `n`, since OpenRouter asks each model for one answer only.
    ...COMPATIBLE_BASE,
    topKField: 'top_k',
    buildChatDrawingFields: (_, aspectRatio) => ({
      modalities: ['image', 'text'],
      ...(aspectRatio !== undefined && { imageConfig: { aspect_ratio: aspectRatio } }),
    }),
  },
  together: {
    ...COMPATIBLE,
    loadImageModel: async (settings, { id }) =>
      (await import('@ai-sdk/togetherai')).createTogetherAI(settings).image(id),
  },
  xai: {
    ...COMPATIBLE_BASE,
    countField: 'n',
    chooseRatioField: () => 'ratio',
    loadImageModel: async (settings, { id }) =>
      (await import('@ai-sdk/xai')).createXai(settings).image(id),
  },
  groq: createTextInterface({
    loadLanguageModel: async (settings, { id }) =>
      (await import('@ai-sdk/groq')).createGroq(settings)(id),
    buildClientOptions: ({ effort, isStrict }) => ({
      providerOptions: {
        groq: withoutUndefined({ reasoningEffort: effort, strictJsonSchema: isStrict }),
      },
    }),
    // Other models take JSON, but refuse a schema.
    chooseJsonMode: ({ id }) => (/gpt-oss|kimi-k2|llama-4|qwen/.test(id) ? 'schema' : 'object'),
  }),
  mistral: createTextInterface({
    loadLanguageModel: async (settings, { id }) =>
      (await import('@ai-sdk/mistral')).createMistral(settings)(id),
    buildClientOptions: ({ effort, isStrict }) => ({
      ...toSharedEffort(effort),
      providerOptions: { mistral: { strictJsonSchema: isStrict } },
    }),
    addsJsonWords: true,
  }),
  deepseek: createTextInterface({
    loadLanguageModel: async (settings, { id }) =>
      (await import('@ai-sdk/deepseek')).createDeepSeek(settings)(id),
    buildClientOptions: ({ effort }) => ({
      providerOptions: { deepseek: withoutUndefined({ reasoningEffort: effort }) },
    }),
    addsJsonWords: true,
  }),
  fireworks: {
    ...COMPATIBLE,
    loadLanguageModel: async (settings, { id }) =>
      (await import('@ai-sdk/fireworks')).createFireworks(settings)(id),
    loadImageModel: async (settings, { id }) =>
      (await import('@ai-sdk/fireworks')).createFireworks(settings).image(id),
    drawsAsynchronously: ({ id }) => id.includes('flux-kontext'),
    chooseRatioField: ({ id }) =>
      /stable-diffusion|playground|ssd-1b/i.test(id) ? 'size' : 'ratio',
  },
  cerebras: createTextInterface({
    loadLanguageModel: async (settings, { id }) =>
      (await import('@ai-sdk/cerebras')).createCerebras(settings)(id),
    buildClientOptions: COMPATIBLE.buildClientOptions,
  }),
} satisfies Record<InterfaceName | 'openai-chat', ProviderInterface>;
