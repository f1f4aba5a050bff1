import { money } from '../../wire/money.ts';
import type { EngineResult } from '../engines/engine.ts';
import type { ModelEntry } from '../models/entry.ts';
import type { RunUsage } from '../store/run-usage.ts';
import { type PricingOptions, pricingOf } from './prices.ts';

/**
 * What a run used and cost, as it is kept with it; undefined for a model that needs no provider. A provider's own figure
 * wins. What it refused cost nothing; of what broke off nobody knows.
 */
export async function chargeOf(
  model: ModelEntry,
  { usage, outputs, isRefused = false }: EngineResult,
  options: PricingOptions,
): Promise<RunUsage | undefined> {
  if (!model.provider) return undefined;
  const name = model.model;
  const tokens = {
    input: usage?.input ?? null,
    output: usage?.output ?? null,
    cached: usage?.cached ?? null,
  };
  if (isRefused) return { model: name, ...tokens, cost: 0, estimated: 0 };
  if (usage?.dollars !== undefined) {
    return { model: name, ...tokens, cost: money(usage.dollars), estimated: 0 };
  }
  const images = outputs.filter(({ type }) => type === 'image').length;
  const isPaidByPicture = images > 0 && model.price?.image !== undefined;
  const pricing = usage || isPaidByPicture ? await pricingOf(model, options) : undefined;
  const cost = pricing?.cost(usage ?? { input: 0, output: 0, cached: 0 }, images) ?? null;
  return { model: name, ...tokens, cost, estimated: pricing?.estimated ? 1 : 0 };
}
