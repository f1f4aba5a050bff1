import type { PromptSearchRow } from '../wire/index.ts';
import { promptConfig } from './prompts/index.ts';
import { bestMatches } from './search.ts';
import type { Services } from './services.ts';

/** Published prompts that match, best first; video prompts left out (service-facts, search). */
export async function searchPrompts(services: Services, words: string): Promise<PromptSearchRow[]> {
  const { store, definitions, models, resources } = services;
  const prompts = (await store.prompts.published()).map(version => {
    const definition = definitions.of(version);
    return {
      ...version,
      description: definition.description,
      definition,
      model: models.get(definition.model),
    };
  });
  const found = bestMatches(
    prompts.filter(({ model }) => model?.modality !== 'video'),
    words,
  );
  return found.map(({ definition, model, ...version }) => ({
    promptId: version.promptId,
    promptVersionId: version.id,
    title: version.title,
    description: version.description,
    slug: version.slug,
    model: resources.indexOf(definition.model),
    modality: model?.modality === 'image' ? 1 : 0,
    estimatedCredits: model?.credits ?? 0,
    uses: version.uses,
    upVotes: 0,
    publishedAt: new Date(version.publishedAt).toISOString(),
    samples: [],
    configs: promptConfig(definition),
  }));
}
