import { expect, it } from 'vitest';
import { calculateCharge } from '../../../src/models/catalogue/charge.ts';
import type { ProviderUsage } from '../../../src/models/engine.ts';
import type { ModelEntry, Price, Provider } from '../../../src/models/model-entry.ts';
import { providerAt } from '../job.ts';

const MILLION: ProviderUsage = { input: 1_000_000, output: 0, cached: 0 };

/** Dollars of a run; null if they are unknown. */
async function computeDollars(
  model: { name: string; id: string; price?: Price },
  usage: ProviderUsage,
  more: { providerBatch?: boolean; runOptions?: Record<string, unknown> } = {},
): Promise<number | null> {
  const provider: Provider = providerAt('https://models.example/v1', { name: model.name });
  const entry: ModelEntry = {
    model: `${model.name}/${model.id}`,
    id: model.id,
    modality: 'text',
    engine: 'provider',
    provider,
    runOptions: [],
    credits: 2,
    ...(model.price && { price: model.price }),
  };

  const charge = await calculateCharge(
    entry,
    { outputs: [], tokens: 1, hasFailed: false, usage },
    more,
  );
  const cost = charge?.cost ?? null;
  return cost === null ? null : cost / 1e8;
}

const HAIKU = { name: 'anthropic', id: 'claude-haiku-4-5' };
const GPT = { name: 'openai', id: 'gpt-5' };

it('prices cache writes by the table, or by the input price of models.yaml', async () => {
  const plain = await computeDollars(HAIKU, MILLION);
  const written = await computeDollars(HAIKU, { ...MILLION, cacheWritten: 1_000_000 });
  expect(written).toBe((plain ?? 0) * 1.25);
  const price = { input: 3, output: 9 };
  expect(await computeDollars({ ...GPT, price }, { ...MILLION, cacheWritten: 1_000_000 })).toBe(3);
});

it.each(['default', 'standard', 'ON_DEMAND', 'auto'])(
  'takes the tier %s for the default one',
  async tier => {
    expect(await computeDollars(GPT, { ...MILLION, tier })).toBe(
      await computeDollars(GPT, MILLION),
    );
  },
);

it('takes the price of the tier that the answer names, not of the requested one', async () => {
  const usual = (await computeDollars(GPT, MILLION)) ?? 0;
  const asked = { runOptions: { serviceTier: 'flex' } };
  expect(await computeDollars(GPT, { ...MILLION, tier: 'flex' }, asked)).toBe(usual / 2);
  expect(await computeDollars(GPT, { ...MILLION, tier: 'default' }, asked)).toBe(usual);
});

it.each(['priority', 'fast', 'scale'])('knows no price for the tier %s', async tier => {
  expect(await computeDollars(GPT, { ...MILLION, tier })).toBeNull();
  expect(
    await computeDollars({ ...GPT, price: { input: 3, output: 9 } }, { ...MILLION, tier }),
  ).toBeNull();
});

it('takes the figure of the provider itself before any other', async () => {
  expect(await computeDollars(GPT, { ...MILLION, tier: 'priority', dollars: 0.5 })).toBe(0.5);
});

it('never fails for counts that contradict each other', async () => {
  expect(
    await computeDollars(HAIKU, { input: 10, output: 0, cached: 8, cacheWritten: 90 }),
  ).not.toBeNull();
});
