import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type EmbeddedService,
  type LocalStore,
  openStore,
  startEmbedded,
} from '../../../src/service/index.ts';
import { createTemporaryDataDir } from '../../support/local-service.ts';
import {
  chatAnswer,
  FakeProvider,
  type ProviderAnswer,
  type ProviderHandler,
} from '../../support/providers/fake-provider.ts';

let provider: FakeProvider;
let service: EmbeddedService;
let store: LocalStore;
let dataDir: string;

beforeAll(async () => {
  provider = await FakeProvider.start();
  dataDir = createTemporaryDataDir();
  store = await openStore({ dataDir, env: {} });
  writeFileSync(
    path.join(dataDir, 'models.yaml'),
    `
providers:
  fake: {baseUrl: "${provider.baseUrl}"}
models:
  - {model: priced, modality: text, provider: fake, price: {input: 2, output: 8, cachedInput: 0.5}}
  - {model: priceless, modality: text, provider: fake}
  - {model: painter, modality: image, provider: fake, price: {image: 0.04}}
  - {model: drafter, modality: image, provider: fake, price: {input: 2, output: 8, image: 0.04}}
  - {model: listed, modality: text, provider: openai, id: gpt-4o-mini}
`,
  );

  const env = { OPENAI_BASE_URL: provider.baseUrl };
  service = await startEmbedded({ dataDir, env });
});

afterAll(async () => {
  await store.close();
  await service.close();
  await provider.close();
});

async function publishVersion(source: string): Promise<string> {
  const file = path.join(dataDir, 'priced.prompt');
  writeFileSync(file, source);
  return (await store.ensureUnlistedVersion({ file })).promptVersionId;
}

async function run(model: string, answer: ProviderAnswer | ProviderHandler): Promise<string> {
  provider.reset(answer);
  const promptVersionId = await publishVersion(`---\nmodel: ${model}\n---\nSay hi`);
  const { body } = await service.request({
    method: 'POST',
    url: `${service.url}/runs`,
    headers: { authorization: `Bearer ${service.sessionKey}` },
    body: JSON.stringify({ promptVersionId, inputs: {} }),
  });
  return (JSON.parse(await textOf(body)) as { data: { runId: string } }).data.runId;
}

const answerWithUsage = (usage: object): ProviderAnswer => ({
  body: { ...(chatAnswer('Hi').body as object), usage },
});

const USAGE = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };

// Costs are in units of 10⁻⁸ dollars: 220_000 is $0.0022.
it.each<[string, string, ProviderAnswer | ProviderHandler, object]>([
  [
    'by the price in models.yaml, with its own price for cached tokens',
    'priced',
    answerWithUsage({ ...USAGE, prompt_tokens_details: { cached_tokens: 400 } }),
    { tokens: { input: 1000, output: 100, cached: 400 }, cost: 220_000, estimated: false },
  ],
  [
    'from the answer of the provider, if it has one',
    'priced',
    answerWithUsage({ ...USAGE, cost: 0.5 }),
    { cost: 50_000_000, estimated: false },
  ],
  [
    'from the table of prices, as an estimate',
    'listed',
    answerWithUsage(USAGE),
    { tokens: { input: 1000, output: 100, cached: 0 }, cost: 21_000, estimated: true },
  ],
  [
    'that is unknown for a service tier without a price, and the standard cost',
    'priced',
    { body: { ...(chatAnswer('Hi').body as object), usage: USAGE, service_tier: 'priority' } },
    { cost: null, standardCost: 280_000 },
  ],
  [
    'that is unknown if its model has no price',
    'priceless',
    answerWithUsage(USAGE),
    { tokens: { input: 1000 }, cost: null },
  ],
  [
    'that is unknown if the answer has no token counts',
    'priced',
    { body: { choices: [{ message: { content: 'Hi' } }] } },
    { tokens: null, cost: null },
  ],
  ['of 0 if it was refused', 'priced', { status: 400, body: {} }, { tokens: null, cost: 0 }],
  [
    'that is unknown if the provider failed',
    'priced',
    { status: 500, body: {} },
    { tokens: null, cost: null },
  ],
  [
    'of all its tokens if its answer is empty',
    'priced',
    { body: { choices: [{ message: { content: '' }, finish_reason: 'length' }], usage: USAGE } },
    { tokens: { input: 1000, output: 100, cached: 0 }, cost: 280_000 },
  ],
  ['of 0 if its model is offline', 'echo', {}, { tokens: null, cost: 0, estimated: false }],
])('a run has a cost %s', async (_, model, answer, expectedCost) => {
  const runId = await run(model, answer);
  const costs = await service.costs.readRunCosts([runId, 'unheard-of']);
  expect(costs.size).toBe(1);
  expect(costs.get(runId)).toMatchObject({ model, ...expectedCost });
});

/** 4000 characters, which are estimated as 1000 tokens. */
const LONG_TEXT = 'x'.repeat(4000);

/** Estimates a run of a prompt without asking the provider. */
async function estimate(frontMatter: string, template = LONG_TEXT, options: object = {}) {
  provider.reset();
  const cost = await service.costs.estimate({
    promptVersionId: await publishVersion(`---\n${frontMatter}\n---\n${template}`),
    inputs: {},
    ...options,
  });
  expect(provider.requests).toEqual([]);
  return cost;
}

it('estimates a token for four characters and 1000 tokens for an answer without a limit', async () => {
  expect(await estimate('model: priced')).toEqual({
    model: 'priced',
    modality: 'text',
    cost: 1_000_000,
    promptCost: 200_000,
    tokens: { input: 1000, output: 1000 },
    assumedOutput: 1000,
    images: 0,
    estimated: false,
    answers: 1,
  });
});

it('estimates an answer by its limit, and assumes nothing then', async () => {
  const limited = await estimate('model: priced\nconfig: {maxOutputTokens: 10}');
  expect(limited).toMatchObject({ cost: 208_000, tokens: { output: 10 } });
  expect(limited).not.toHaveProperty('assumedOutput');
});

it.each<[string, string, object]>([
  [
    'several answers, whose prompt is paid for once',
    'model: priced\nconfig: {n: 3, maxOutputTokens: 10}',
    { cost: 224_000, promptCost: 200_000, answers: 3 },
  ],
  ['pictures', 'model: painter\nconfig: {n: 2}', { cost: 8_000_000, images: 2 }],
  [
    'pictures and tokens',
    'model: drafter\nconfig: {n: 2}',
    // 1000 tokens of the prompt, 1000 of each of two answers, and two pictures.
    { cost: 200_000 + 2 * 800_000 + 2 * 4_000_000 },
  ],
  [
    'a model of the table of prices',
    'model: listed',
    {
      cost: 75_000,
      estimated: true,
      tableDate: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string,
    },
  ],
  [
    'the cheaper tier of a known model',
    'model: openai/gpt-4o-mini\nconfig: {serviceTier: flex}',
    { cost: 37_500 },
  ],
  ['the default tier', 'model: priced\nconfig: {serviceTier: default}', { cost: 1_000_000 }],
  [
    'a tier without a price',
    'model: priced\nconfig: {serviceTier: priority}',
    { cost: null, unpricedTier: 'priority' },
  ],
  ['a model without a price', 'model: priceless', { cost: null, promptCost: null }],
  ['an offline model', 'model: echo', { cost: 0, promptCost: 0 }],
])('estimates %s', async (_, frontMatter, expectedCost) => {
  expect(await estimate(frontMatter)).toMatchObject(expectedCost);
});

it('estimates half of the price for a batch of the provider', async () => {
  expect(await estimate('model: priced', LONG_TEXT, { providerBatch: true })).toMatchObject({
    cost: 500_000,
  });
});

it('refuses to estimate a prompt without its input', async () => {
  await expect(estimate('model: echo', '{{missing}}')).rejects.toThrow(/missing/);
});
