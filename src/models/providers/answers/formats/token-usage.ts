import { withoutUndefined } from '../../../../files/formats/json.ts';
import type { ProviderUsage } from '../../../engine.ts';
import { type ReportedCounts, readCountAt } from '../model-answer.ts';

/** xAI's unit of cost, in US dollars. */
const DOLLARS_PER_TICK = 1e-10;

/**
 * Returns the usage from the counts of OpenAI's interfaces and their imitations. Some leave
 * thinking out of the completion but include it in the total.
 */
export function readTokenUsage(counts: ReportedCounts): ProviderUsage | undefined {
  const readCount = (...path: string[]): number | undefined => readCountAt(counts, ...path);
  const input = readCount('prompt_tokens') ?? readCount('input_tokens');
  const completion = readCount('completion_tokens') ?? readCount('output_tokens');
  if (input === undefined || completion === undefined) return undefined;

  const output = Math.max(completion, (readCount('total_tokens') ?? 0) - input);
  const cachedTokens =
    readCount('prompt_tokens_details', 'cached_tokens') ??
    readCount('input_tokens_details', 'cached_tokens') ??
    readCount('prompt_cache_hit_tokens') ??
    readCount('cached_tokens') ??
    0;

  const writtenTokens =
    readCount('prompt_tokens_details', 'cache_write_tokens') ??
    readCount('input_tokens_details', 'cache_write_tokens') ??
    readCount('cache_creation_input_tokens');
  return withoutUndefined({
    input,
    output,
    cached: Math.min(cachedTokens, input),
    cacheWritten: writtenTokens === undefined ? undefined : Math.min(writtenTokens, input),
    dollars: readReportedCost(counts),
  });
}

/** Returns the cost that a provider reports, in US dollars. */
export function readReportedCost(counts: ReportedCounts): number | undefined {
  const { cost, cost_in_usd_ticks: ticks } = counts;
  if (typeof cost === 'number' && Number.isFinite(cost) && cost >= 0) return cost;
  return typeof ticks === 'number' && Number.isFinite(ticks) && ticks >= 0
    ? ticks * DOLLARS_PER_TICK
    : undefined;
}
