import type { PromptSearchRow } from '../wire/index.ts';
import { bestMatches } from './best-matches.ts';
import { promptConfig } from './prompts/index.ts';
import type { Services } from './services.ts';
import type { PublishedPrompt } from './store/prompts-store.ts';

/** Published prompts that match, best first; video prompts left out (service-facts, search). */
export async function searchPrompts(services: Services, words: string): Promise<PromptSearchRow[]> {
  const { store, models } = services;
  const prompts = await store.prompts.published();
  const found = bestMatches(
    prompts.filter(({ model }) => models.get(model)?.modality !== 'video'),
    words,
  );
  return await Promise.all(found.map(prompt => searchRow(services, prompt)));
}

async function searchRow(
  { definitions, models, resources }: Services,
  { id, publishedAt, model: name, ...prompt }: PublishedPrompt,
): Promise<PromptSearchRow> {
  const model = models.get(name);
  return {
    ...prompt,
    promptVersionId: id,
    model: resources.indexOf(name),
    modality: model?.modality === 'image' ? 1 : 0,
    estimatedCredits: model?.credits ?? 0,
    upVotes: 0,
    publishedAt: new Date(publishedAt).toISOString(),
    samples: [],
    configs: promptConfig(await definitions.ofRun(id)),
  };
}
