import { type Money, toMoney } from '../../wire/money.ts';
import type { EngineResult } from '../engine.ts';
import type { ModelEntry } from '../model-entry.ts';
import { getAnswerCount } from './answer-count.ts';
import { findPricing, type PricingOptions } from './prices.ts';

/** The usage and cost of a run; null for unknown figures. */
export interface Charge {
  readonly model: string;
  /** Input tokens, including cached ones. */
  readonly input: number | null;
  readonly output: number | null;
  readonly cached: number | null;
  readonly cost: Money | null;
  /** 1 if the price comes from the bundled table, else 0. */
  readonly estimated: number;
  /** The number of answers that the run requested. */
  readonly answers: number;
}

/**
 * Returns the usage and cost of a run, to store with it; undefined for an offline model. A
 * provider's own figure wins. A refused run cost nothing; the cost of one that broke off is
 * unknown.
 */
export async function calculateCharge(
  model: ModelEntry,
  { usage, dollars, outputs, isRefused = false }: EngineResult,
  options: PricingOptions,
): Promise<Charge | undefined> {
  if (!model.provider && !model.declaration) return undefined;

  const { input = null, output = null, cached = null } = usage ?? {};
  const answers = getAnswerCount(options.runOptions ?? {});
  const counts = { model: model.model, input, output, cached, answers };
  if (isRefused) return { ...counts, cost: 0, estimated: 0 };

  const reportedDollars = dollars ?? usage?.dollars;
  if (reportedDollars !== undefined) {
    return { ...counts, cost: toMoney(reportedDollars), estimated: 0 };
  }

  const imageCount = outputs.filter(({ type }) => type === 'image').length;
  const { cost, isEstimate } = await computeUsageCost(model, usage, imageCount, options);
  return { ...counts, cost, estimated: isEstimate ? 1 : 0 };
}

/**
 * Returns the cost by the model's prices; null if the run has no usage, and no price per run or per
 * image determines it.
 */
async function computeUsageCost(
  model: ModelEntry,
  usage: EngineResult['usage'],
  imageCount: number,
  options: PricingOptions,
): Promise<{ cost: number | null; isEstimate: boolean }> {
  const isPaidByImage = imageCount > 0 && model.price?.image !== undefined;
  if (!usage && !isPaidByImage && model.price?.run === undefined) {
    return { cost: null, isEstimate: false };
  }
  const pricing = await findPricing(model, { ...options, tier: usage?.tier });
  const cost =
    pricing?.computeCost(usage ?? { input: 0, output: 0, cached: 0 }, imageCount) ?? null;
  return { cost, isEstimate: pricing?.isEstimate ?? false };
}
