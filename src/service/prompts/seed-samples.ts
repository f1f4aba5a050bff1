import { builtInText } from '../../prompts/built-in/files.ts';
import type { Clock } from '../core/clock.ts';
import type { Store } from '../store/store.ts';
import { newVersionOf } from './publish.ts';

/** The prompts that a fresh service starts with. Lists show the newest first: the simplest is published last. */
export const SAMPLES = ['sandbox', 'describe', 'postcard', 'hello'] as const;

const SEEDED = 'samplesSeeded';

/** Publishes the samples into a fresh store; never again, so that what a user withdrew stays withdrawn. */
export async function seedSamples(store: Store, clock: Clock): Promise<void> {
  if ((await store.settings.get(SEEDED)) !== undefined) return;
  const { readDefinition } = await import('../../prompts/tasks/read-prompt.ts');
  for (const slug of SAMPLES) {
    const file = `${slug}.prompt`;
    const definition = await readDefinition(builtInText(file), file, { partials: {} });
    await store.prompts.publish(newVersionOf(definition), clock.now());
  }
  await store.settings.once(SEEDED, () => 'yes');
}
