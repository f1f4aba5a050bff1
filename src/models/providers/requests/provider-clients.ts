import { withoutUndefined } from '../../../files/formats/json.ts';
import { withoutTrailingSlashes } from '../../../wire/addresses.ts';
import type { InterfaceName } from '../../model-entry.ts';
import { CHAT } from '../answers/formats/chat.ts';
import { CONVERSE } from '../answers/formats/converse.ts';
import { GEMINI } from '../answers/formats/gemini.ts';
import { MESSAGES } from '../answers/formats/messages.ts';
import { RESPONSES } from '../answers/formats/responses.ts';
import {
  type ClientSettings,
  type Extras,
  type ModelId,
  type ProviderInterface,
  sharedEffort,
} from './provider-interface.ts';

/** Chat Completions as all servers implement them. */
const COMPATIBLE_BASE = {
  answerFormat: () => CHAT,
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
      openaiCompatible: withoutUndefined({ reasoningEffort: effort, strictJsonSchema: strict }),
    },
  }),
  ratioAs: () => 'size',
} satisfies ProviderInterface;

/** Chat Completions as most servers implement them. */
const COMPATIBLE = { ...COMPATIBLE_BASE, topK: 'top_k', count: 'n' } satisfies ProviderInterface;

/** Returns an interface without pictures, and without options that only local servers take. */
function textOnly(
  more: Pick<ProviderInterface, 'language' | 'options'> & Partial<ProviderInterface>,
): ProviderInterface {
  return { answerFormat: () => CHAT, count: 'n', ...more };
}

function openAiOptions({ effort, strict, reasons }: Extras): ReturnType<ProviderInterface['options']> {
  return {
    providerOptions: {
      openai: withoutUndefined({
        reasoningEffort: effort,
        // With an effort the client requests a summary by default, which some accounts may not use.
        reasoningSummary: effort === undefined ? undefined : null,
        strictJsonSchema: strict,
        forceReasoning: reasons,
      }),
    },
  };
}

/** OpenAI's own interfaces. Its client decides by the name of a model which options to send. */
const OPENAI_BASE = {
  image: async (settings, { id }) => (await import('@ai-sdk/openai')).createOpenAI(settings).image(id),
  ratioAs: () => 'size',
} satisfies Partial<ProviderInterface>;

const OPENAI_CHAT: ProviderInterface = {
  ...OPENAI_BASE,
  answerFormat: () => CHAT,
  language: async (settings, { id }) => (await import('@ai-sdk/openai')).createOpenAI(settings).chat(id),
  options: extras => {
    const { providerOptions } = openAiOptions(extras);
    const { reasoningSummary: _, ...openai } = providerOptions?.['openai'] ?? {};
    return { providerOptions: { openai } };
  },
  count: 'n',
  // Models from before 2024-08 don't support schemas.
  json: ({ id }) => (/^gpt-(?:3\.5|4(?:-turbo|-\d{4}|$))/.test(id) ? 'object' : 'schema'),
};

const OPENAI_RESPONSES: ProviderInterface = {
  ...OPENAI_BASE,
  answerFormat: () => RESPONSES,
  language: async (settings, { id }) => (await import('@ai-sdk/openai')).createOpenAI(settings).responses(id),
  options: openAiOptions,
  defaults: { store: false },
};

/** Azure takes the key in its own header; OpenAI's client sends a bearer token. */
const AZURE: ProviderInterface = {
  ...OPENAI_RESPONSES,
  language: async (settings, modelId) => await OPENAI_RESPONSES.language(withApiKey(settings), modelId),
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

const GOOGLE: ProviderInterface = {
  answerFormat: () => GEMINI,
  language: async (settings, { id }) => (await import('@ai-sdk/google')).createGoogle(settings)(id),
  insteadOf: () => 'Google no longer offers Imagen: use a Gemini model that draws',
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

function claudeOptions({ effort }: Extras): ReturnType<ProviderInterface['options']> {
  // Otherwise the client requests JSON as a tool's input through a beta that does not validate it.
  return {
    providerOptions: { anthropic: withoutUndefined({ effort, toolStreaming: false }) },
  };
}

const ANTHROPIC: ProviderInterface = {
  answerFormat: () => MESSAGES,
  language: async ({ baseURL, ...settings }, { id }) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ ...settings, baseURL: `${withoutTrailingSlashes(baseURL)}/v1` })(id);
  },
  options: claudeOptions,
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
    async language(settings, modelId) {
      if (isClaude(modelId)) {
        const { createAmazonBedrockAnthropic } = await import('@ai-sdk/amazon-bedrock/anthropic');
        return createAmazonBedrockAnthropic({ ...settings, ...REGION })(modelId.id);
      }
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
      return createAmazonBedrock({ ...settings, ...REGION })(modelId.id);
    },
    async image(settings, { id }) {
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
      return createAmazonBedrock({ ...settings, ...REGION }).image(id);
    },
    insteadOf: ({ id }) =>
      /amazon\.(?:nova-canvas|titan-image)/.test(id) ? undefined : 'use amazon.nova-canvas-v1:0',
    ratioAs: () => 'size',
    options: extras => ({ ...sharedEffort(extras.effort), ...claudeOptions(extras) }),
    systemFirst: true,
  },
  openrouter: {
    // It asks each model for one answer.
    ...COMPATIBLE_BASE,
    topK: 'top_k',
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
    ...COMPATIBLE_BASE,
    count: 'n',
    ratioAs: () => 'ratio',
    image: async (settings, { id }) => (await import('@ai-sdk/xai')).createXai(settings).image(id),
  },
  groq: textOnly({
    language: async (settings, { id }) => (await import('@ai-sdk/groq')).createGroq(settings)(id),
    options: ({ effort, strict }) => ({
      providerOptions: { groq: withoutUndefined({ reasoningEffort: effort, strictJsonSchema: strict }) },
    }),
    // Other models take JSON, but refuse a schema.
    json: ({ id }) => (/gpt-oss|kimi-k2|llama-4|qwen/.test(id) ? 'schema' : 'object'),
  }),
  mistral: textOnly({
    language: async (settings, { id }) => (await import('@ai-sdk/mistral')).createMistral(settings)(id),
    options: ({ effort, strict }) => ({
      ...sharedEffort(effort),
      providerOptions: { mistral: { strictJsonSchema: strict } },
    }),
    saysJson: true,
  }),
  deepseek: textOnly({
    language: async (settings, { id }) => (await import('@ai-sdk/deepseek')).createDeepSeek(settings)(id),
    options: ({ effort }) => ({
      providerOptions: { deepseek: withoutUndefined({ reasoningEffort: effort }) },
    }),
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
  cerebras: textOnly({
    language: async (settings, { id }) => (await import('@ai-sdk/cerebras')).createCerebras(settings)(id),
    options: COMPATIBLE.options,
  }),
} satisfies Record<InterfaceName | 'openai-chat', ProviderInterface>;
