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

/** Chat Completions as all servers implement them. */
const COMPATIBLE_BASE = {
  answerFormat: () => CHAT,
  async languageModel(settings, { provider, id }) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const client = createOpenAICompatible({
      ...settings,
      name: provider,
      supportsStructuredOutputs: true,
      includeUsage: true,
    });
    return client.chatModel(id);
  },
  async imageModel(settings, { provider, id }) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    return createOpenAICompatible({ ...settings, name: provider }).imageModel(id);
  },
  clientOptions: ({ effort, strict }) => ({
    providerOptions: {
      openaiCompatible: withoutUndefined({ reasoningEffort: effort, strictJsonSchema: strict }),
    },
  }),
  ratioField: () => 'size',
} satisfies ProviderInterface;

/** Chat Completions as most servers implement them. */
const COMPATIBLE = {
  ...COMPATIBLE_BASE,
  topKField: 'top_k',
  countField: 'n',
} satisfies ProviderInterface;

/** Returns an interface without pictures, and without options that only local servers take. */
function createTextInterface(
  parts: Pick<ProviderInterface, 'languageModel' | 'clientOptions'> & Partial<ProviderInterface>,
): ProviderInterface {
  return { answerFormat: () => CHAT, countField: 'n', ...parts };
}

function openAiOptions({
  effort,
  strict,
  isReasoning,
}: ClientExtras): ReturnType<ProviderInterface['clientOptions']> {
  return {
    providerOptions: {
      openai: withoutUndefined({
        reasoningEffort: effort,
        // With an effort the client requests a summary by default, which some accounts may not use.
        reasoningSummary: effort === undefined ? undefined : null,
        strictJsonSchema: strict,
        forceReasoning: isReasoning,
      }),
    },
  };
}

/** OpenAI's own interfaces. Its client decides by the name of a model which options to send. */
const OPENAI_BASE = {
  imageModel: async (settings, { id }) =>
    (await import('@ai-sdk/openai')).createOpenAI(settings).image(id),
  ratioField: () => 'size',
} satisfies Partial<ProviderInterface>;

const OPENAI_CHAT: ProviderInterface = {
  ...OPENAI_BASE,
  answerFormat: () => CHAT,
  languageModel: async (settings, { id }) =>
    (await import('@ai-sdk/openai')).createOpenAI(settings).chat(id),
  clientOptions: extras => {
    const { providerOptions } = openAiOptions(extras);
    const { reasoningSummary: _, ...openai } = providerOptions?.['openai'] ?? {};
    return { providerOptions: { openai } };
  },
  countField: 'n',
  // Models from before 2024-08 don't support schemas.
  jsonMode: ({ id }) => (/^gpt-(?:3\.5|4(?:-turbo|-\d{4}|$))/.test(id) ? 'object' : 'schema'),
};

const OPENAI_RESPONSES: ProviderInterface = {
  ...OPENAI_BASE,
  answerFormat: () => RESPONSES,
  languageModel: async (settings, { id }) =>
    (await import('@ai-sdk/openai')).createOpenAI(settings).responses(id),
  clientOptions: openAiOptions,
  defaultFields: { store: false },
};

/** Azure takes the key in its own header; OpenAI's client sends a bearer token. */
const AZURE: ProviderInterface = {
  ...OPENAI_RESPONSES,
  languageModel: async (settings, modelId) =>
    await OPENAI_RESPONSES.languageModel(withApiKey(settings), modelId),
  imageModel: async (settings, { id }) =>
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

const GOOGLE: ProviderInterface = {
  answerFormat: () => GEMINI,
  languageModel: async (settings, { id }) =>
    (await import('@ai-sdk/google')).createGoogle(settings)(id),
  drawingAdvice: () => 'Google no longer offers Imagen: use a Gemini model that draws',
  chatDrawingFields: ({ id }, aspectRatio) =>
    id.includes('imagen')
      ? undefined
      : {
          responseModalities: ['TEXT', 'IMAGE'],
          ...(aspectRatio !== undefined && { imageConfig: { aspectRatio } }),
        },
  clientOptions: ({ effort }) => toSharedEffort(effort),
  configField: 'generationConfig',
  systemFirst: true,
  countField: 'candidateCount',
};

function buildClaudeOptions({
  effort,
}: ClientExtras): ReturnType<ProviderInterface['clientOptions']> {
  // Otherwise the client requests JSON as a tool's input through a beta that does not validate it.
  return {
    providerOptions: { anthropic: withoutUndefined({ effort, toolStreaming: false }) },
  };
}

const ANTHROPIC: ProviderInterface = {
  answerFormat: () => MESSAGES,
  languageModel: async ({ baseURL, ...settings }, { id }) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ ...settings, baseURL: `${withoutTrailingSlashes(baseURL)}/v1` })(id);
  },
  clientOptions: buildClaudeOptions,
  systemFirst: true,
};

function isClaude({ id }: ModelId): boolean {
  return id.includes('anthropic.') || id.startsWith('claude');
}

/** A region for the client to be content with; the address names the real one. */
const REGION = { region: 'us-east-1' };

/** The interfaces by name. */
export const CLIENTS = {
  openai: COMPATIBLE,
  'openai-chat': OPENAI_CHAT,
  'openai-responses': OPENAI_RESPONSES,
  azure: AZURE,
  anthropic: ANTHROPIC,
  google: GOOGLE,
  vertexai: GOOGLE,
  bedrock: {
    answerFormat: modelId => (isClaude(modelId) ? MESSAGES : CONVERSE),
    async languageModel(settings, modelId) {
      if (isClaude(modelId)) {
        const { createAmazonBedrockAnthropic } = await import('@ai-sdk/amazon-bedrock/anthropic');
        return createAmazonBedrockAnthropic({ ...settings, ...REGION })(modelId.id);
      }
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
      return createAmazonBedrock({ ...settings, ...REGION })(modelId.id);
    },
    async imageModel(settings, { id }) {
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
      return createAmazonBedrock({ ...settings, ...REGION }).image(id);
    },
    drawingAdvice: ({ id }) =>
      /amazon\.(?:nova-canvas|titan-image)/.test(id) ? undefined : 'use amazon.nova-canvas-v1:0',
    ratioField: () => 'size',
    clientOptions: extras => ({ ...toSharedEffort(extras.effort), ...buildClaudeOptions(extras) }),
    systemFirst: true,
  },
  openrouter: {
    // It asks each model for one answer.
    ...COMPATIBLE_BASE,
    topKField: 'top_k',
    chatDrawingFields: (_, aspectRatio) => ({
      modalities: ['image', 'text'],
      ...(aspectRatio !== undefined && { imageConfig: { aspect_ratio: aspectRatio } }),
    }),
  },
  together: {
    ...COMPATIBLE,
    imageModel: async (settings, { id }) =>
      (await import('@ai-sdk/togetherai')).createTogetherAI(settings).image(id),
  },
  xai: {
    ...COMPATIBLE_BASE,
    countField: 'n',
    ratioField: () => 'ratio',
    imageModel: async (settings, { id }) =>
      (await import('@ai-sdk/xai')).createXai(settings).image(id),
  },
  groq: createTextInterface({
    languageModel: async (settings, { id }) =>
      (await import('@ai-sdk/groq')).createGroq(settings)(id),
    clientOptions: ({ effort, strict }) => ({
      providerOptions: {
        groq: withoutUndefined({ reasoningEffort: effort, strictJsonSchema: strict }),
      },
    }),
    // Other models take JSON, but refuse a schema.
    jsonMode: ({ id }) => (/gpt-oss|kimi-k2|llama-4|qwen/.test(id) ? 'schema' : 'object'),
  }),
  mistral: createTextInterface({
    languageModel: async (settings, { id }) =>
      (await import('@ai-sdk/mistral')).createMistral(settings)(id),
    clientOptions: ({ effort, strict }) => ({
      ...toSharedEffort(effort),
      providerOptions: { mistral: { strictJsonSchema: strict } },
    }),
    saysJson: true,
  }),
  deepseek: createTextInterface({
    languageModel: async (settings, { id }) =>
      (await import('@ai-sdk/deepseek')).createDeepSeek(settings)(id),
    clientOptions: ({ effort }) => ({
      providerOptions: { deepseek: withoutUndefined({ reasoningEffort: effort }) },
    }),
    saysJson: true,
  }),
  fireworks: {
    ...COMPATIBLE,
    languageModel: async (settings, { id }) =>
      (await import('@ai-sdk/fireworks')).createFireworks(settings)(id),
    imageModel: async (settings, { id }) =>
      (await import('@ai-sdk/fireworks')).createFireworks(settings).image(id),
    drawsAsynchronously: ({ id }) => id.includes('flux-kontext'),
    ratioField: ({ id }) => (/stable-diffusion|playground|ssd-1b/i.test(id) ? 'size' : 'ratio'),
  },
  cerebras: createTextInterface({
    languageModel: async (settings, { id }) =>
      (await import('@ai-sdk/cerebras')).createCerebras(settings)(id),
    clientOptions: COMPATIBLE.clientOptions,
  }),
} satisfies Record<InterfaceName | 'openai-chat', ProviderInterface>;
