import type { Clock } from './clock.ts';
import { parsePromptFile, samples } from './prompts/index.ts';
import { newVersionOf } from './publish.ts';
import type { Store } from './store/store.ts';

const SEEDED = 'samplesSeeded';

/** Publishes the samples into a fresh store; never again, so that what a user withdrew stays withdrawn. */
export async function seedSamples(store: Store, clock: Clock): Promise<void> {
  if ((await store.settings.get(SEEDED)) !== undefined) return;
  for (const { slug, source } of samples()) {
    const definition = parsePromptFile(source, `${slug}.prompt`);
    await store.prompts.publish(newVersionOf(definition), clock.now());
  }
  await store.settings.once(SEEDED, () => 'yes');
}
