import type { ModelTable } from '../../models/catalogue/model-table.ts';
import type { ResourcesView } from '../../models/catalogue/resources-view.ts';
import { type PromptDefinition, toPromptConfig } from '../../prompts/definition.ts';
import type { PromptLabel, PromptSearchRow } from '../../wire/index.ts';
import { type Caller, LOCAL_USER } from '../core/caller.ts';
import { invalidRequest, notFound } from '../core/refusal.ts';
import type { PublishedRow } from '../store/prompts-store.ts';
import type { Store } from '../store/store.ts';
import { listBestMatches } from './best-matches.ts';
import type { Definitions } from './definitions.ts';

/** The numbers by which search rows name modalities. */
const TEXT_MODALITY = 0;
const IMAGE_MODALITY = 1;

/** The services that finding and showing published prompts needs. */
export interface PromptListing {
  readonly store: Store;
  readonly models: ModelTable;
  readonly resources: ResourcesView;
  readonly definitions: Definitions;
  /** True if only the user `local` sees templates. */
  readonly hideTemplates: boolean;
}

/** Returns a page of all published prompts, newest first. */
export async function listPrompts(
  listing: PromptListing,
  query: { limit: number; startingAfter?: string; endingBefore?: string },
  caller: Caller,
): Promise<{ rows: PromptSearchRow[]; hasMore: boolean }> {
  const { startingAfter, endingBefore, limit } = query;
  if (startingAfter !== undefined && endingBefore !== undefined) {
    throw invalidRequest("startingAfter and endingBefore can't be sent together");
  }

  const publishedPrompts = (await listing.store.prompts.listPublished()).sort(compareByPublication);
  const requireCursorIndex = (name: 'startingAfter' | 'endingBefore'): number => {
    const index = publishedPrompts.findIndex(
      ({ promptId }) => promptId === query[name]?.toLowerCase(),
    );
    if (index < 0) throw notFound(`${name} is not a published prompt`);
    return index;
  };

  const end =
    endingBefore === undefined ? publishedPrompts.length : requireCursorIndex('endingBefore');
  const start = startingAfter === undefined ? 0 : requireCursorIndex('startingAfter') + 1;
  const from = endingBefore === undefined ? start : Math.max(0, end - limit);
  const page = publishedPrompts.slice(from, Math.min(end, from + limit));

  return {
    rows: await buildSearchRows(listing, page, caller),
    hasMore: endingBefore === undefined ? from + limit < end : from > 0,
  };
}

function compareByPublication(a: PublishedRow, b: PublishedRow): number {
  return b.publishedAt - a.publishedAt || (a.slug < b.slug ? -1 : 1);
}

/** Returns the published prompts that match a query, best match first, without video prompts. */
export async function searchPrompts(
  listing: PromptListing,
  query: string,
  caller: Caller,
): Promise<PromptSearchRow[]> {
  const { store, models } = listing;
  const prompts = await store.prompts.listPublished();
  const matches = listBestMatches(
    prompts.filter(({ model }) => models.get(model)?.modality !== 'video'),
    query,
  );
  return await buildSearchRows(listing, matches, caller);
}

async function buildSearchRows(
  listing: PromptListing,
  prompts: readonly PublishedRow[],
  caller: Caller,
): Promise<PromptSearchRow[]> {
  const labels = await listing.store.labels.listForPrompts(prompts.map(({ promptId }) => promptId));
  const findLabels = (prompt: PublishedRow): PromptLabel[] =>
    labels
      .filter(({ promptId }) => promptId === prompt.promptId)
      .map(({ label, promptVersionId }) => ({ label, promptVersionId }));
  return await Promise.all(
    prompts.map(async prompt => ({
      ...(await buildSearchRow(listing, prompt, caller)),
      labels: findLabels(prompt),
    })),
  );
}

async function buildSearchRow(
  listing: PromptListing,
  { id, publishedAt, model: name, ...prompt }: PublishedRow,
  caller: Caller,
): Promise<PromptSearchRow & { template?: string }> {
  const { definitions, models, resources } = listing;
  const model = models.get(name);
  const definition = await definitions.getByVersionId(id);

  return {
    ...prompt,
    promptVersionId: id,
    model: resources.indexOf(name),
    modality: model?.modality === 'image' ? IMAGE_MODALITY : TEXT_MODALITY,
    estimatedCredits: model?.credits ?? 0,
    upVotes: 0,
    publishedAt: new Date(publishedAt).toISOString(),
    samples: [],
    configs: toPromptConfig(definition),
    ...pickShownTemplate(listing, caller, definition),
  };
}

/** Returns the template in a separate field, unless it is hidden from this caller. */
export function pickShownTemplate(
  { hideTemplates }: Pick<PromptListing, 'hideTemplates'>,
  { userName }: Caller,
  { template }: PromptDefinition,
): { template?: string } {
  return hideTemplates && userName !== LOCAL_USER ? {} : { template };
}
