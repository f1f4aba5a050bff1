import type { PromptSearchRow } from '../../wire/index.ts';
import { invalid, notFound } from '../http/api-error.ts';
import type { Services } from '../services.ts';
import type { PublishedPrompt } from '../store/prompts-store.ts';
import { searchRow } from './search.ts';

/** One page of every published prompt, newest first (service-facts, `GET /prompts`). */
export async function listPrompts(
  services: Services,
  query: { limit: number; startingAfter?: string; endingBefore?: string },
): Promise<{ rows: PromptSearchRow[]; hasMore: boolean }> {
  const { startingAfter, endingBefore, limit } = query;
  if (startingAfter !== undefined && endingBefore !== undefined) {
    throw invalid('startingAfter and endingBefore can’t be sent together');
  }
  const all = (await services.store.prompts.published()).sort(byPublication);
  const placeOf = (name: 'startingAfter' | 'endingBefore'): number => {
    const at = all.findIndex(({ promptId }) => promptId === query[name]?.toLowerCase());
    if (at < 0) throw notFound(`${name} is not a published prompt`);
    return at;
  };
  const end = endingBefore === undefined ? all.length : placeOf('endingBefore');
  const start = startingAfter === undefined ? 0 : placeOf('startingAfter') + 1;
  const from = endingBefore === undefined ? start : Math.max(0, end - limit);
  const page = all.slice(from, Math.min(end, from + limit));
  return {
    rows: await Promise.all(page.map(prompt => searchRow(services, prompt))),
    hasMore: endingBefore === undefined ? from + limit < end : from > 0,
  };
}

function byPublication(one: PublishedPrompt, other: PublishedPrompt): number {
  return other.publishedAt - one.publishedAt || (one.slug < other.slug ? -1 : 1);
}
