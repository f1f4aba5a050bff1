import { readFile } from 'node:fs/promises';
import { installedFile } from '../../files/installed-file.ts';
import type { Clock } from '../../service/clock.ts';
import { newVersionOf } from '../../service/prompts/publish.ts';
import type { Store } from '../../service/store/store.ts';

/** The prompts that a fresh service starts with. Lists show the newest first: the simplest is published last. */
export const SAMPLES = ['sandbox', 'describe', 'postcard', 'hello'] as const;

const SEEDED = 'samplesSeeded';

/** Publishes the samples into a fresh store; never again, so that what a user withdrew stays withdrawn. */
export async function seedSamples(store: Store, clock: Clock): Promise<void> {
  if ((await store.settings.get(SEEDED)) !== undefined) return;
  const { readPromptFile } = await import('../parse/read-prompt.ts');
  for (const slug of SAMPLES) {
    const definition = await readPromptFile(builtIn(`${slug}.prompt`));
    await store.prompts.publish(newVersionOf(definition), clock.now());
  }
  await store.settings.once(SEEDED, () => 'yes');
}

/** The texts of a prompt file to start from and of the test file beside it; `name` is what both are called. */
export async function newPrompt(
  name: string,
  { image = false }: { image?: boolean } = {},
): Promise<{ readonly prompt: string; readonly test: string }> {
  const kind = image ? 'image' : 'text';
  const [prompt, test] = await Promise.all([
    readFile(builtIn(`new/${kind}.prompt`), 'utf8'),
    readFile(builtIn(`new/${kind}.test.yaml`), 'utf8'),
  ]);
  return { prompt: prompt.replace('TITLE', () => titleOf(name)), test };
}

/** `write-mail` → `Write mail`, as YAML writes it whatever is in it. */
function titleOf(name: string): string {
  const words = name.replace(/[-_.]+/g, ' ').trim();
  return JSON.stringify(words.charAt(0).toUpperCase() + words.slice(1));
}

/** A file beside this one, which the build copies into the package. */
export function builtIn(name: string): string {
  return installedFile(`dist/prompts/${name}`, `service/prompts/built-in/${name}`, `prompts/${name}`);
}
