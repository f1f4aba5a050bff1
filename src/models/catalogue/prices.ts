import { type Money, toMoney } from '../../wire/money.ts';
import type { ProviderUsage } from '../engine.ts';
import type { ModelEntry, Price } from '../model-entry.ts';

/** The date of the bundled price table. It lags behind, so its prices are estimates. */
export const PRICE_TABLE_DATE = '2026-09-23';

/** The share of the price for batches and for the flex tier. */
const REDUCED_PRICE_SHARE = 0.5;

export interface Pricing {
  /** True if it comes from the bundled table. */
  readonly isEstimate: boolean;
  computeCost(tokens: Omit<ProviderUsage, 'dollars' | 'tier'>, imageCount: number): Money;
}

export interface PricingOptions {
  readonly providerBatch?: boolean | undefined;
  /** The options of the prompt and the run. */
  readonly runOptions?: Readonly<Record<string, unknown>>;
  /** The price class in the provider's answer; default the requested one. */
  readonly tier?: string | undefined;
}

/** The names of providers in the bundled table, if they differ from ours. */
const TABLE_PROVIDER_IDS: Readonly<Record<string, string>> = {
  googleai: 'google',
  vertexai: 'google',
  bedrock: 'aws',
  xai: 'x-ai',
};

/** Providers' names for the standard price class. */
const STANDARD_TIERS: ReadonlySet<string> = new Set([
  '',
  'auto',
  'default',
  'standard',
  'standard_only',
  'on_demand',
]);

/**
 * Returns the pricing of a model: from models.yaml, else from the bundled table; undefined if
 * neither has one. Covers the standard price class and those with a known share of it: undefined
 * for any other class.
 */
export async function findPricing(
  model: ModelEntry,
  options: PricingOptions = {},
): Promise<Pricing | undefined> {
  const { provider, declaration, price } = model;
  if (declaration) return createDeclaredPricing(model);
  if (!provider) return { isEstimate: false, computeCost: () => 0 };

  const share = findPriceShare(provider.name, options);
  if (share === undefined) return undefined;

  const pricing = price ? createDescribedPricing(price, model) : await createTablePricing(model);
  return (
    pricing && {
      ...pricing,
      computeCost: (usage, imageCount) =>
        Math.round(pricing.computeCost(usage, imageCount) * share),
    }
  );
}

/**
 * Returns the pricing of a program or an address; undefined if it has no price, or one per token
 * but no counts.
 */
function createDeclaredPricing({ declaration, price, ...model }: ModelEntry): Pricing | undefined {
  if (price?.run !== undefined) {
    const runCost = toMoney(price.run);
    return { isEstimate: false, computeCost: () => runCost };
  }
  return price && declaration?.tokens ? createDescribedPricing(price, model) : undefined;
}

/** Returns the share of the standard price that a class costs; undefined if it is unknown. */
function findPriceShare(
  provider: string,
  { providerBatch = false, runOptions = {}, tier }: PricingOptions,
): number | undefined {
  const requestedTier = runOptions['serviceTier'];
  const defaultTier = typeof requestedTier === 'string' ? requestedTier : '';
  const tierName = (tier ?? defaultTier).toLowerCase();
  if (providerBatch || tierName === 'batch') return REDUCED_PRICE_SHARE;
  if (tierName === 'flex' && provider === 'openai') return REDUCED_PRICE_SHARE;
  return STANDARD_TIERS.has(tierName) ? 1 : undefined;
}

/** Returns the pricing in models.yaml. Images without their own price are paid by token. */
function createDescribedPricing(price: Price, { modality }: ModelEntry): Pricing {
  const { input, output, cachedInput = input, image = 0 } = price;
  const imageCost = modality === 'image' ? toMoney(image) : 0;
  return {
    isEstimate: false,
    computeCost: ({ input: tokens, output: answerTokens, cached }, imageCount) => {
      const dollars =
        ((tokens - cached) * input + cached * cachedInput + answerTokens * output) / 1e6;
      return toMoney(dollars) + imageCount * imageCost;
    },
  };
}

async function createTablePricing({
  model,
  id = model,
  provider,
}: ModelEntry): Promise<Pricing | undefined> {
  const { calcPrice } = await import('@pydantic/genai-prices');
  const providerName = provider?.name ?? '';

  const providerId = TABLE_PROVIDER_IDS[providerName] ?? providerName;
  const computeDollars = (usage: Omit<ProviderUsage, 'dollars' | 'tier'>): number | undefined => {
    const { input, output, cached, cacheWritten = 0 } = usage;
    const tokens = {
      input_tokens: input,
      output_tokens: output,
      cache_read_tokens: cached,
      // The table refuses counts that exceed their sum.
      cache_write_tokens: Math.min(cacheWritten, Math.max(0, input - cached)),
    };
    return calcPrice(tokens, id, { providerId })?.total_price;
  };

  if (computeDollars({ input: 1, output: 1, cached: 0 }) === undefined) return undefined;
  return { isEstimate: true, computeCost: usage => toMoney(computeDollars(usage) ?? 0) };
}
