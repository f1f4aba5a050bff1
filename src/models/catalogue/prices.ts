import { type Money, money } from '../../wire/money.ts';
import type { EngineResult, Usage } from '../engine.ts';
import type { ModelEntry, Price } from '../entry.ts';
import { answersOf } from './answers.ts';

/** When the kept table of prices was published: it lags behind, so what it says is an estimate. */
export const PRICE_TABLE_DATE = '2026-09-23';

/** What a provider takes in a batch, or for an answer that may take long, of its price. */
const REDUCED = 0.5;

/** What a model costs. */
export interface Pricing {
  /** Whether it comes from the kept table. */
  readonly estimated: boolean;
  /** What tokens and pictures cost. */
  cost(tokens: Omit<Usage, 'dollars' | 'tier'>, images: number): Money;
}

export interface PricingOptions {
  /** Whether it is asked in a batch of its provider. */
  readonly providerBatch?: boolean | undefined;
  /** What the prompt and the run ask of the model. */
  readonly runOptions?: Readonly<Record<string, unknown>>;
  /** The price class that the provider says it used; default the one that the run asks for. */
  readonly tier?: string | undefined;
}

/** The names of providers in the kept table, if they are not ours. */
const TABLE_NAMES: Readonly<Record<string, string>> = {
  googleai: 'google',
  vertexai: 'google',
  bedrock: 'aws',
  xai: 'x-ai',
};

/** What providers call the price class that a table of prices means. */
const STANDARD: ReadonlySet<string> = new Set(['', 'auto', 'default', 'standard', 'on_demand']);

/**
 * What a model costs: as it is described, else as the kept table has it; undefined if neither says. Both say it of the
 * usual price class and those with a known share of it: undefined for any other class.
 */
export async function pricingOf(
  model: ModelEntry,
  options: PricingOptions = {},
): Promise<Pricing | undefined> {
  const { provider, declared, price } = model;
  if (declared) return declaredPricing(model);
  if (!provider) return { estimated: false, cost: () => 0 };
  const share = shareOf(provider.name, options);
  if (share === undefined) return undefined;
  const pricing = price ? describedPricing(price, model) : await tablePricing(model);
  return (
    pricing && {
      ...pricing,
      cost: (usage, images) => Math.round(pricing.cost(usage, images) * share),
    }
  );
}

/** What a program or an address costs by its price; undefined if only its answers say what it costs, or nobody does. */
function declaredPricing({ declared, price, ...model }: ModelEntry): Pricing | undefined {
  if (price?.run !== undefined) {
    const run = money(price.run);
    return { estimated: false, cost: () => run };
  }
  return price && declared?.tokens ? describedPricing(price, model) : undefined;
}

/** The share of the price that a class costs; undefined if it is not known. */
function shareOf(
  provider: string,
  { providerBatch = false, runOptions = {}, tier }: PricingOptions,
): number | undefined {
  const asked = runOptions['serviceTier'] === 'flex' ? 'flex' : '';
  const name = (tier ?? asked).toLowerCase();
  if (providerBatch || name === 'batch' || (name === 'flex' && provider === 'openai')) return REDUCED;
  return STANDARD.has(name) || tier === undefined ? 1 : undefined;
}

/** A model that draws and whose pictures have no price of their own is paid by the token. */
function describedPricing(price: Price, { modality }: ModelEntry): Pricing {
  const { input, output, cachedInput = input, image = 0 } = price;
  const perImage = modality === 'image' ? money(image) : 0;
  return {
    estimated: false,
    cost: ({ input: tokens, output: made, cached }, images) => {
      const dollars = ((tokens - cached) * input + cached * cachedInput + made * output) / 1e6;
      return money(dollars) + images * perImage;
    },
  };
}

async function tablePricing({ model, id = model, provider }: ModelEntry): Promise<Pricing | undefined> {
  const { calcPrice } = await import('@pydantic/genai-prices');
  const name = provider?.name ?? '';
  const providerId = TABLE_NAMES[name] ?? name;
  const dollars = (usage: Omit<Usage, 'dollars' | 'tier'>): number | undefined => {
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
  if (dollars({ input: 1, output: 1, cached: 0 }) === undefined) return undefined;
  return { estimated: true, cost: usage => money(dollars(usage) ?? 0) };
}

/** What a run used and cost; null for what is unknown. */
export interface Charge {
  readonly model: string;
  /** Tokens, cached ones among the input. */
  readonly input: number | null;
  readonly output: number | null;
  readonly cached: number | null;
  readonly cost: Money | null;
  /** 1 if the price comes from the kept table. */
  readonly estimated: number;
  /** How many answers the run asked for. */
  readonly answers: number;
}

/**
 * What a run used and cost, as it is kept with it; undefined for an offline model. A provider's own figure
 * wins. What it refused cost nothing; of what broke off nobody knows.
 */
export async function chargeOf(
  model: ModelEntry,
  { usage, dollars = usage?.dollars, outputs, isRefused = false }: EngineResult,
  options: PricingOptions,
): Promise<Charge | undefined> {
  if (!model.provider && !model.declared) return undefined;
  const name = model.model;
  const counts = {
    input: usage?.input ?? null,
    output: usage?.output ?? null,
    cached: usage?.cached ?? null,
    answers: answersOf(options.runOptions ?? {}),
  };
  if (isRefused) return { model: name, ...counts, cost: 0, estimated: 0 };
  if (dollars !== undefined) return { model: name, ...counts, cost: money(dollars), estimated: 0 };
  const images = outputs.filter(({ type }) => type === 'image').length;
  const isPaidByPicture = images > 0 && model.price?.image !== undefined;
  const hasPrice = isPaidByPicture || model.price?.run !== undefined;
  const pricing = usage || hasPrice ? await pricingOf(model, { ...options, tier: usage?.tier }) : undefined;
  const cost = pricing?.cost(usage ?? { input: 0, output: 0, cached: 0 }, images) ?? null;
  return { model: name, ...counts, cost, estimated: pricing?.estimated ? 1 : 0 };
}
