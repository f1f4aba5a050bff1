import type { Modality } from '../../wire/index.ts';
import type { ModelEntry, Provider } from '../model-entry.ts';

/** Credits for a run of a provider's model, unless models.yaml sets them. */
export const DEFAULT_CREDITS: Readonly<Record<Modality, number>> = {
  text: 2,
  image: 10,
  video: 50,
};

/** Matches names of models that draw, such as `gpt-image-2` or `flux-2-pro`. */
const IMAGE_MODEL = /image|dall-e|flux|stable-?diffusion|kontext|nova-canvas/i;

export function guessModality(name: string): 'text' | 'image' {
  return IMAGE_MODEL.test(name) ? 'image' : 'text';
}

/** Returns an entry for a provider's model that models.yaml doesn't describe. */
export function guessModel(
  provider: Provider,
  model: string,
  { id, guessedFrom }: { id: string; guessedFrom: 'prefix' | 'key' },
): ModelEntry {
  const modality = guessModality(id);
  return {
    model,
    modality,
    engine: 'provider',
    provider,
    id,
    runOptions: [],
    guessedFrom,
    credits: DEFAULT_CREDITS[modality],
  };
}
