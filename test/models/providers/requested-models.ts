import type { ModelEntry } from '../../../src/models/model-entry.ts';
import { guessModel } from '../../../src/models/providers/guessed-model.ts';
import { listKnownProviders } from '../../../src/models/providers/providers.ts';
import { png } from '../../support/png.ts';
import type { ChatDialect } from '../../support/providers/chat-dialects.ts';
import type { JobOptions } from '../job.ts';

/** Every option of the guide, as a prompt file has them. */
const OPTIONS = {
  temperature: 0.5,
  topP: 0.9,
  topK: 40,
  seed: 7,
  frequencyPenalty: 0.1,
  presencePenalty: 0.2,
  stopSequences: ['END'],
  reasoningEffort: 'low',
  maxOutputTokens: 100,
};

const SCHEMA = {
  type: 'object',
  properties: {
    title: { type: 'string', minLength: 1, description: 'A heading' },
    stars: { type: 'integer', minimum: 1, maximum: 5 },
    kind: { type: 'string', enum: ['book', 'film'] },
    tags: { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' }, maxItems: 3 },
    note: { type: ['string', 'null'] },
  },
  required: ['title', 'stars'],
  additionalProperties: false,
};

const CLOSED = {
  type: 'object',
  properties: { title: { type: 'string' }, stars: { type: 'integer' } },
  required: ['title', 'stars'],
  additionalProperties: false,
};

/** The requests that each model is sent, by what they show. */
export const CASES: Readonly<Record<string, JobOptions>> = {
  'roles and a picture': {
    template: '{{role "system"}}Be brief.{{role "user"}}See {{media url=p}} this',
    images: [png(1, 1)],
  },
  'every option': {
    template: '{{role "system"}}Be brief.{{role "user"}}Hello',
    runOptions: OPTIONS,
  },
  'a schema': { json: { schema: SCHEMA } },
  'a schema without optional properties': { json: { schema: CLOSED } },
  'JSON of any form': { json: {} },
  'JSON that the prompt asks for': { template: 'Hello in JSON', json: {} },
  'text as it comes': { onText: () => undefined },
  'two answers': { runOptions: { n: 2 } },
  'everything at once, as it comes': {
    template: '{{role "system"}}Be brief.{{role "user"}}See {{media url=p}} this',
    images: [png(1, 1)],
    runOptions: OPTIONS,
    json: { schema: SCHEMA },
    onText: () => undefined,
  },
};

/** The requests that models for pictures are sent. */
export const DRAWINGS: Readonly<Record<string, JobOptions>> = {
  'a picture': { template: 'A house', runOptions: { aspectRatio: '16:9' } },
  'a picture that is changed': { template: 'Brighter: {{media url=p}}', images: [png(1, 1)] },
};

export interface AskedProvider {
  /** True if its models draw. */
  readonly draws?: boolean;
  /** Matches its models that take no pictures. */
  readonly takesNoPictures?: RegExp;
  /** Its prefix, if it is asked by more than one interface. */
  readonly provider?: string;
  /** Its models: one of each kind that is asked in another way. */
  readonly models: readonly string[];
  /** Set besides its key. */
  readonly env?: Readonly<Record<string, string>>;
  readonly dialect?: ChatDialect;
  /** The type of its requests' bodies. */
  readonly type: string;
  /** A key of `config` that only this provider knows. */
  readonly config?: Readonly<Record<string, unknown>>;
}

/** Every provider that is known by its prefix. */
export const ASKED: Readonly<Record<string, AskedProvider>> = {
  openai: {
    models: ['gpt-4o-mini', 'gpt-5.6'],
    type: 'OpenAiResponses',
    config: { serviceTier: 'flex', metadata: { team: 'blue' } },
  },
  anthropic: {
    models: ['claude-haiku-4-5', 'claude-opus-4-8'],
    type: 'Messages',
    config: { serviceTier: 'standard_only' },
  },
  googleai: {
    models: ['gemini-2.5-flash', 'gemini-3-pro-preview'],
    type: 'GenerateContent',
    config: { safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }] },
  },
  vertexai: { models: ['gemini-2.5-flash'], type: 'GenerateContent' },
  bedrock: {
    models: ['anthropic.claude-haiku-4-5-20251001-v1:0', 'us.anthropic.claude-opus-4-8'],
    env: { AWS_REGION: 'eu-west-1' },
    type: 'BedrockMessages',
  },
  'bedrock-converse': {
    provider: 'bedrock',
    models: ['amazon.nova-pro-v1:0'],
    env: { AWS_REGION: 'eu-west-1' },
    type: 'Converse',
  },
  'openai-chat': {
    provider: 'openai',
    models: ['gpt-4o-mini', 'gpt-5.6'],
    env: { OPENAI_BASE_URL: 'https://gateway.example/v1' },
    dialect: 'openai',
    type: 'OpenAiChat',
    config: { serviceTier: 'flex', user: 'ada' },
  },
  'gemini-openai': {
    provider: 'googleai',
    models: ['gemini-2.5-flash'],
    env: { GEMINI_BASE_URL: 'https://generativelanguage.googleapis.com/v1beta/openai' },
    dialect: 'gemini',
    type: 'OpenAiChat',
  },
  azure: { models: ['gpt-5.6'], env: { AZURE_RESOURCE_NAME: 'ada' }, type: 'OpenAiResponses' },
  openrouter: {
    models: ['meta-llama/llama-3.3-70b'],
    dialect: 'openrouter',
    type: 'OpenRouter',
  },
  groq: {
    models: ['llama-3.3-70b-versatile', 'openai/gpt-oss-120b'],
    dialect: 'groq',
    type: 'Groq',
    config: { serviceTier: 'flex' },
  },
  mistral: {
    models: ['mistral-large-latest'],
    dialect: 'mistral',
    type: 'Mistral',
    config: { safePrompt: true },
  },
  deepseek: {
    models: ['deepseek-chat', 'deepseek-v4-flash-vision-exp'],
    takesNoPictures: /chat/,
    dialect: 'deepseek',
    type: 'OpenAiChat',
  },
  xai: { models: ['grok-4', 'grok-3-mini'], dialect: 'xai', type: 'OpenAiChat' },
  together: {
    models: ['meta-llama/Llama-3.3-70B-Instruct-Turbo'],
    dialect: 'together',
    type: 'Together',
  },
  fireworks: {
    models: ['accounts/fireworks/models/deepseek-v3'],
    dialect: 'fireworks',
    type: 'Fireworks',
  },
  cerebras: { models: ['gpt-oss-120b'], dialect: 'cerebras', type: 'Cerebras' },
  'openai-images': {
    provider: 'openai',
    draws: true,
    models: ['gpt-image-1'],
    dialect: 'openai',
    type: 'OpenAiImage',
    config: { quality: 'high' },
  },
  'azure-images': {
    provider: 'azure',
    draws: true,
    models: ['gpt-image-1'],
    env: { AZURE_RESOURCE_NAME: 'ada' },
    dialect: 'openai',
    type: 'OpenAiImage',
  },
  'together-images': {
    provider: 'together',
    draws: true,
    models: ['black-forest-labs/FLUX.1-schnell'],
    dialect: 'together',
    type: 'TogetherImage',
  },
  'xai-images': {
    provider: 'xai',
    draws: true,
    models: ['grok-imagine-image'],
    dialect: 'xai',
    type: 'XaiImage',
  },
  'fireworks-images': {
    provider: 'fireworks',
    draws: true,
    models: [
      'accounts/fireworks/models/flux-1-schnell-fp8',
      'accounts/fireworks/models/flux-kontext-pro',
    ],
    takesNoPictures: /schnell/,
    type: 'FireworksImage',
  },
  'bedrock-images': {
    provider: 'bedrock',
    draws: true,
    models: ['amazon.nova-canvas-v1:0'],
    env: { AWS_REGION: 'eu-west-1' },
    type: 'NovaCanvas',
  },
  'vertexai-images': {
    provider: 'vertexai',
    draws: true,
    models: ['gemini-2.5-flash-image'],
    type: 'GenerateContent',
  },
  'googleai-images': {
    provider: 'googleai',
    draws: true,
    models: ['gemini-2.5-flash-image'],
    type: 'GenerateContent',
  },
  'openrouter-images': {
    provider: 'openrouter',
    draws: true,
    dialect: 'openrouter',
    models: ['google/gemini-2.5-flash-image'],
    type: 'OpenRouterImage',
  },
  ollama: { models: ['llama3.2'], type: 'LocalChat' },
  lmstudio: { models: ['qwen3-8b'], dialect: 'lmstudio', type: 'LocalChat' },
  llamacpp: { models: ['tiny'], type: 'LocalChat' },
  vllm: { models: ['qwen3-8b'], type: 'LocalChat' },
};

export interface AskedModel {
  readonly entry: ModelEntry;
  readonly env: Record<string, string>;
  /** The provider's real origin. */
  readonly origin: string;
}

/**
 * Returns a model of a known provider, at the address of a double but on the provider's own path.
 */
export function modelAt(address: string, name: string, id: string): AskedModel {
  const { provider = name, env: more = {}, draws = false } = ASKED[name] ?? {};
  const known = listKnownProviders(more).find(one => one.name === provider);
  if (!known) throw new Error(`${provider} is not a known provider`);

  const [key] = known.keyVariables;
  const env = { ...more, ...(key === undefined ? {} : { [key]: `key-of-${provider}` }) };
  const { origin, pathname } = new URL(known.baseUrl);
  const baseUrl = `${new URL(address).origin}${pathname.replace(/\/$/, '')}`;
  const model = guessModel({ ...known, baseUrl }, `${provider}/${id}`, {
    id,
    guessedFrom: 'prefix',
  });

  return { entry: draws ? { ...model, modality: 'image' } : model, env, origin };
}
