import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** The guides by the names that `help` takes, and their files in docs/. */
export const GUIDES: Readonly<Record<string, string>> = {
  'prompt-files': 'prompt-files.md',
  tests: 'tests-and-recordings.md',
  batch: 'batch.md',
  services: 'services.md',
  models: 'models.md',
  serve: 'serve.md',
};

/** Beside the directory of the built command or of its chunks, or of the sources. */
const PLACES = ['../docs/', '../../docs/', '../../../../docs/'];

/** The text of a guide, undefined where none has this name. Throws Error where it is not installed. */
export async function readGuide(name: string): Promise<string | undefined> {
  const guide = Object.hasOwn(GUIDES, name) ? GUIDES[name] : undefined;
  if (guide === undefined) return undefined;
  const file = PLACES.map(place => fileURLToPath(new URL(place + guide, import.meta.url))).find(existsSync);
  if (file === undefined) {
    throw new Error(`${guide} is missing from the installation: install promptrun again`);
  }
  return readFile(file, 'utf8');
}
