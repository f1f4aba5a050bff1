import type { Clock } from '../clock.ts';
import type { ModelTable } from '../models/index.ts';
import type { NewVersion } from '../store/prompts-store.ts';
import type { Store } from '../store/store.ts';
import { checkModel } from './check-model.ts';
import type { PromptDefinition } from './definition.ts';
import { promptIdOf, promptVersionIdOf } from './definitions.ts';

/** What publishing a prompt file came to. */
export interface Published {
  slug: string;
  promptId: string;
  promptVersionId: string;
  title: string;
  /** False if this very content was the latest version already. */
  changed: boolean;
}

/**
 * Publishes what a prompt file says. The same content is the same version; an older version's makes that the latest.
 *
 * @throws {InvalidPromptFile} whose message names file and line, for a model or a run option that is not there
 */
export async function publishPrompt(
  { store, models, clock }: { store: Store; models: ModelTable; clock: Clock },
  definition: PromptDefinition,
  file = `${definition.slug}.prompt`,
): Promise<Published> {
  checkModel(definition, file, models);
  const version = newVersionOf(definition);
  const changed = await store.prompts.publish(version, clock.now());
  const { slug, promptId, id, title } = version;
  return { slug, promptId, promptVersionId: id, title, changed };
}

/** The version a definition is, by its slug and its content. */
export function newVersionOf({ slug, title, description, model, source }: PromptDefinition): NewVersion {
  const promptId = promptIdOf(slug);
  return { id: promptVersionIdOf(promptId, source), promptId, slug, title, description, model, source };
}
