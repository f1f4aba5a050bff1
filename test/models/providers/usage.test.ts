import { extractUsage, findProvider } from '@pydantic/genai-prices';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngines } from '../../../src/models/engines.ts';
import { answerInForm } from '../../support/providers/answers.ts';
import { FakeProvider } from '../../support/providers/fake-provider.ts';
import { createJob } from '../job.ts';
import { modelAt } from './requested-models.ts';

// Compares the counts of answers with those of @pydantic/genai-prices.

let provider: FakeProvider;

beforeAll(async () => {
  provider = await FakeProvider.start();
});

afterAll(() => provider.close());

interface UsageCase {
  readonly provider: string;
  readonly model: string;
  readonly description: string;
  /** Names of the provider and of its form in the package. */
  readonly oracle: readonly [string, string];
  readonly counts: Readonly<Record<string, unknown>>;
  /** Input, output, read from the cache, written to it. */
  readonly tokens: readonly [number, number, number, number];
}

const CHAT = { model: 'tiny', oracle: ['openai', 'chat'] } as const;

const USAGE_CASES: readonly UsageCase[] = [
  {
    provider: 'openai',
    model: 'gpt-5.6',
    description: 'thinking is part of the output, the cache of the input',
    oracle: ['openai', 'responses'],
    counts: {
      input_tokens: 2000,
      input_tokens_details: { cached_tokens: 1500, cache_write_tokens: 300 },
      output_tokens: 700,
      output_tokens_details: { reasoning_tokens: 640 },
      total_tokens: 2700,
    },
    tokens: [2000, 700, 1500, 300],
  },
  {
    provider: 'azure',
    model: 'gpt-5.6',
    description: 'nothing is cached',
    oracle: ['azure', 'responses'],
    counts: {
      input_tokens: 9,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 4,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 13,
    },
    tokens: [9, 4, 0, 0],
  },
  {
    provider: 'anthropic',
    model: 'claude-haiku-4-5',
    description: 'the input leaves out what was read from the cache and written to it',
    oracle: ['anthropic', 'default'],
    counts: {
      input_tokens: 12,
      cache_creation_input_tokens: 2051,
      cache_read_input_tokens: 1024,
      cache_creation: { ephemeral_5m_input_tokens: 2051, ephemeral_1h_input_tokens: 0 },
      output_tokens: 503,
      service_tier: 'standard',
    },
    tokens: [3087, 503, 1024, 2051],
  },
  {
    provider: 'googleai',
    model: 'gemini-3-pro-preview',
    description: 'thinking stands beside the output',
    oracle: ['google', 'default'],
    counts: {
      promptTokenCount: 500,
      cachedContentTokenCount: 400,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 180,
      totalTokenCount: 700,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 500 }],
    },
    tokens: [500, 200, 400, 0],
  },
  {
    provider: 'vertexai',
    model: 'gemini-2.5-flash',
    description: 'a picture is input, and tools read on their own',
    oracle: ['google', 'default'],
    counts: {
      promptTokenCount: 268,
      toolUsePromptTokenCount: 30,
      candidatesTokenCount: 8,
      totalTokenCount: 306,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 10 },
        { modality: 'IMAGE', tokenCount: 258 },
      ],
    },
    tokens: [298, 8, 0, 0],
  },
  {
    provider: 'xai',
    model: 'grok-4',
    description: 'thinking is part of the total, not of the completion',
    oracle: ['x-ai', 'chat'],
    counts: {
      prompt_tokens: 687,
      completion_tokens: 75,
      total_tokens: 927,
      prompt_tokens_details: {
        text_tokens: 687,
        audio_tokens: 0,
        image_tokens: 0,
        cached_tokens: 682,
      },
      completion_tokens_details: { reasoning_tokens: 165, audio_tokens: 0 },
    },
    tokens: [687, 240, 682, 0],
  },
  {
    ...CHAT,
    provider: 'openrouter',
    description: 'thinking is part of the completion, and a write to the cache of the prompt',
    oracle: ['openrouter', 'chat'],
    counts: {
      prompt_tokens: 3214,
      completion_tokens: 100,
      total_tokens: 3314,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 3211, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 60 },
    },
    tokens: [3214, 100, 0, 3211],
  },
  {
    ...CHAT,
    provider: 'groq',
    description: 'times stand among the counts',
    oracle: ['groq', 'default'],
    counts: {
      queue_time: 0.0049,
      prompt_tokens: 336,
      prompt_time: 0.01,
      completion_tokens: 96,
      completion_time: 0.57,
      total_tokens: 432,
      total_time: 0.58,
      prompt_tokens_details: { cached_tokens: 256 },
      completion_tokens_details: { reasoning_tokens: 59 },
    },
    tokens: [336, 96, 256, 0],
  },
  {
    ...CHAT,
    provider: 'mistral',
    description: 'part of the prompt comes from the cache',
    oracle: ['mistral', 'default'],
    counts: {
      prompt_tokens: 268,
      completion_tokens: 5,
      total_tokens: 273,
      prompt_tokens_details: { cached_tokens: 224 },
    },
    tokens: [268, 5, 224, 0],
  },
  {
    ...CHAT,
    provider: 'deepseek',
    description: 'hits of the cache are named in two ways',
    oracle: ['deepseek', 'chat'],
    counts: {
      prompt_tokens: 563,
      completion_tokens: 116,
      total_tokens: 679,
      prompt_tokens_details: { cached_tokens: 512 },
      completion_tokens_details: { reasoning_tokens: 60 },
      prompt_cache_hit_tokens: 512,
      prompt_cache_miss_tokens: 51,
    },
    tokens: [563, 116, 512, 0],
  },
  {
    ...CHAT,
    provider: 'fireworks',
    description: 'only the sums are named',
    oracle: ['fireworks', 'chat'],
    counts: { prompt_tokens: 20, completion_tokens: 30, total_tokens: 50 },
    tokens: [20, 30, 0, 0],
  },
  {
    ...CHAT,
    provider: 'together',
    description: 'the cache is named without details',
    oracle: ['anthropic', 'chat'],
    counts: { prompt_tokens: 20, completion_tokens: 30, total_tokens: 50, cached_tokens: 8 },
    tokens: [20, 30, 8, 0],
  },
  {
    ...CHAT,
    provider: 'cerebras',
    description: 'predictions stand beside thinking',
    oracle: ['cerebras', 'chat'],
    counts: {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 20, accepted_prediction_tokens: 0 },
    },
    tokens: [100, 50, 0, 0],
  },
  {
    ...CHAT,
    provider: 'vllm',
    description: 'audio is input like text',
    oracle: ['openai', 'chat'],
    counts: {
      prompt_tokens: 120,
      completion_tokens: 10,
      total_tokens: 130,
      prompt_tokens_details: { audio_tokens: 100, cached_tokens: 0 },
      completion_tokens_details: { audio_tokens: 0, reasoning_tokens: 0 },
    },
    tokens: [120, 10, 0, 0],
  },
  {
    provider: 'bedrock',
    model: 'anthropic.claude-haiku-4-5-20251001-v1:0',
    description: 'Claude counts as at home',
    oracle: ['aws', 'anthropic'],
    counts: {
      input_tokens: 12,
      cache_creation_input_tokens: 20,
      cache_read_input_tokens: 30,
      output_tokens: 5,
    },
    tokens: [62, 5, 30, 20],
  },
  {
    provider: 'bedrock',
    model: 'amazon.nova-pro-v1:0',
    description: 'Converse leaves the cache out of the input',
    oracle: ['aws', 'default'],
    counts: {
      inputTokens: 12,
      cacheReadInputTokens: 30,
      cacheWriteInputTokens: 20,
      outputTokens: 5,
      totalTokens: 67,
    },
    tokens: [62, 5, 30, 20],
  },
];

describe.each(USAGE_CASES)(
  '$provider, $model: $description',
  ({ provider: name, model, oracle, counts, tokens }) => {
    const [input, output, cached, written] = tokens;
    const key = 'promptTokenCount' in counts ? 'usageMetadata' : 'usage';

    it('is counted as the provider counts', async () => {
      const { entry, env } = modelAt(provider.baseUrl, name, model);

      provider.reset((response, request) => {
        const answer = answerInForm(request);
        if (typeof answer === 'function') throw new Error('nothing here is streamed');
        const body = { ...(answer.body as object), model, [key]: counts };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });

      const { usage } = await createEngines({ dataDir: 'nowhere', env }).provider.run(
        createJob({ model: entry }),
      );
      expect([usage?.input, usage?.output, usage?.cached, usage?.cacheWritten ?? 0]).toEqual(
        tokens,
      );
    });

    it('is counted the same by genai-prices', () => {
      const [providerId, form] = oracle;
      const known = findProvider({ providerId });
      if (!known) throw new Error(`the package does not know ${providerId}`);

      const body = { model, modelVersion: model, modelId: model, [key]: counts };
      const { usage } = extractUsage(known, body, form);

      expect([
        usage['input_tokens'],
        usage['output_tokens'],
        usage['cache_read_tokens'] ?? 0,
        usage['cache_write_tokens'] ?? 0,
      ]).toEqual([input, output, cached, written]);
    });
  },
);
