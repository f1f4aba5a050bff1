import { readBuiltInText } from '../../prompts/built-in/built-in-texts.ts';
import type { Clock } from '../core/clock.ts';
import type { Store } from '../store/store.ts';
import { toNewVersion } from './versions.ts';

/**
 * The prompts of a new service. The simplest is published last, because lists show the newest
 * first.
 */
export const SAMPLES = ['sandbox', 'describe', 'postcard', 'hello'] as const;

const SEEDED_SETTING = 'samplesSeeded';

/**
 * Publishes the samples into a new store, only once, so that samples that a user withdrew stay
 * withdrawn.
 */
export async function seedSamples(store: Store, clock: Clock): Promise<void> {
  if ((await store.settings.get(SEEDED_SETTING)) !== undefined) return;
  const { readDefinition } = await import('../../prompts/tasks/read-prompt.ts');
  for (const slug of SAMPLES) {
    const file = `${slug}.prompt`;
    const definition = await readDefinition(readBuiltInText(file), file, { partials: {} });
    await store.prompts.publish(toNewVersion(definition), clock.now());
  }

  await store.settings.getOrCreate(SEEDED_SETTING, () => 'yes');
}
