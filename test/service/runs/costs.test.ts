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
import { temporaryDataDir } from '../../support/local-service.ts';
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
  dataDir = temporaryDataDir();
  store = await openStore({ dataDir, env: {} });
  writeFileSync(
    path.join(dataDir, 'models.yaml'),
    `
providers:
  corner: {baseUrl: "${provider.baseUrl}"}
models:
  - {model: priced, modality: text, provider: corner, price: {input: 2, output: 8, cachedInput: 0.5}}
  - {model: priceless, modality: text, provider: corner}
  - {model: painter, modality: image, provider: corner, price: {image: 0.04}}
  - {model: drafter, modality: image, provider: corner, price: {input: 2, output: 8, image: 0.04}}
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
  const file = path.join(dataDir, 'asked.prompt');
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

it.each<[string, string, ProviderAnswer | ProviderHandler, object]>([
  [
    'by the described price, cached tokens apart',
    'priced',
    answerWithUsage({ ...USAGE, prompt_tokens_details: { cached_tokens: 400 } }),
    { tokens: { input: 1000, output: 100, cached: 400 }, cost: 220_000, estimated: false },
  ],
  [
    'by what the provider says itself',
    'priced',
    answerWithUsage({ ...USAGE, cost: 0.5 }),
    { cost: 50_000_000, estimated: false },
  ],
  [
    'by the kept table',
    'listed',
    answerWithUsage(USAGE),
    { tokens: { input: 1000, output: 100, cached: 0 }, cost: 21_000, estimated: true },
  ],
  [
    'nobody knows what, but the standard price of its tokens, by a price class that has no price',
    'priced',
    { body: { ...(chatAnswer('Hi').body as object), usage: USAGE, service_tier: 'priority' } },
    { cost: null, standardCost: 280_000 },
  ],
  [
    'nobody knows what',
    'priceless',
    answerWithUsage(USAGE),
    { tokens: { input: 1000 }, cost: null },
  ],
  [
    'nobody knows what without a count',
    'priced',
    { body: { choices: [{ message: { content: 'Hi' } }] } },
    { tokens: null, cost: null },
  ],
  ['nothing if it was refused', 'priced', { status: 400, body: {} }, { tokens: null, cost: 0 }],
  [
    'nobody knows what if it broke off',
    'priced',
    { status: 500, body: {} },
    { tokens: null, cost: null },
  ],
  [
    'as much if its answer is of no use',
    'priced',
    { body: { choices: [{ message: { content: '' }, finish_reason: 'length' }], usage: USAGE } },
    { tokens: { input: 1000, output: 100, cached: 0 }, cost: 280_000 },
  ],
  ['nothing if it is offline', 'echo', {}, { tokens: null, cost: 0, estimated: false }],
])('a run costs %s', async (_, model, answer, expectedCost) => {
  const runId = await run(model, answer);
  const costs = await service.costs.readRunCosts([runId, 'unheard-of']);
  expect(costs.size).toBe(1);
  expect(costs.get(runId)).toMatchObject({ model, ...expectedCost });
});

it('an estimate takes four characters for a token and asks nobody', async () => {
  provider.reset();

  const estimate = async (head: string, template: string, more: object = {}) =>
    await service.costs.estimate({
      promptVersionId: await publishVersion(`---\n${head}\n---\n${template}`),
      inputs: {},
      ...more,
    });

  const text = 'x'.repeat(4000);
  expect(await estimate('model: priced', text)).toEqual({
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

  expect(await estimate('model: priced\nconfig: {n: 3, maxOutputTokens: 10}', text)).toMatchObject({
    cost: 224_000,
    promptCost: 200_000,
    answers: 3,
  });

  expect(await estimate('model: priced', text, { providerBatch: true })).toMatchObject({
    cost: 500_000,
  });
  expect(await estimate('model: priced\nconfig: {maxOutputTokens: 10}', text)).toMatchObject({
    cost: 208_000,
    tokens: { output: 10 },
  });
  expect(await estimate('model: priced\nconfig: {maxOutputTokens: 10}', text)).not.toHaveProperty(
    'assumedOutput',
  );
  expect(await estimate('model: painter\nconfig: {n: 2}', 'A house')).toMatchObject({
    cost: 8_000_000,
    images: 2,
  });
  expect(await estimate('model: drafter\nconfig: {n: 2}', text)).toMatchObject({
    cost: 200_000 + 1_600_000 + 8_000_000,
  });
  expect(await estimate('model: listed', text)).toMatchObject({
    cost: 75_000,
    estimated: true,
    tableDate: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string,
  });

  expect(
    await estimate('model: openai/gpt-4o-mini\nconfig: {serviceTier: flex}', text),
  ).toMatchObject({
    cost: 37_500,
  });

  expect(await estimate('model: priced\nconfig: {serviceTier: default}', text)).toMatchObject({
    cost: 1_000_000,
  });
  expect(await estimate('model: priced\nconfig: {serviceTier: priority}', text)).toMatchObject({
    cost: null,
    unpricedTier: 'priority',
  });
  expect(await estimate('model: priceless', text)).toMatchObject({ cost: null, promptCost: null });
  expect(await estimate('model: echo', text)).toMatchObject({ cost: 0, promptCost: 0 });
  await expect(estimate('model: echo', '{{missing}}')).rejects.toThrow(/missing/);
  expect(provider.requests).toEqual([]);
});
