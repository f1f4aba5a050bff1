import type { Modality } from '../../wire/index.ts';
import type { Env } from '../outgoing/proxy.ts';
import type { ModelEntry, Provider } from './entry.ts';
import { isConfigured, knownProviders } from './providers.ts';

/** What a run of another's model costs where nothing is said, in credits. */
export const DEFAULT_CREDITS: Readonly<Record<Modality, number>> = { text: 2, image: 10, video: 50 };

/** The known providers with a key that the environment has one for, or an address of one's own. */
export function configuredProviders(env: Env): readonly Provider[] {
  return knownProviders(env).filter(
    provider => provider.keyVariables.length > 0 && isConfigured(provider, env),
  );
}

/** What a model makes, by its name alone. */
export function guessedModality(name: string): 'text' | 'image' {
  return /image|dall-e|diffusion|flux/i.test(name) ? 'image' : 'text';
}

/** A model that nobody described, as one of a provider's. */
export function guessedModel(
  provider: Provider,
  model: string,
  { id, by }: { id: string; by: 'prefix' | 'key' },
): ModelEntry {
  const modality = guessedModality(id);
  return {
    model,
    modality,
    engine: provider.engine,
    provider,
    id,
    runOptions: [],
    guessed: by,
    credits: DEFAULT_CREDITS[modality],
  };
}
