import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Beside the built command, above its chunks, or where the build puts it. */
const PLACES = ['./', '../', '../../dist/'];

/** A file that the build makes for a process of its own. @throws where it is not part of the installation */
export function builtFile(name: string): string {
  const file = PLACES.map(place => fileURLToPath(new URL(place + name, import.meta.url))).find(existsSync);
  if (file !== undefined) return file;
  throw new Error(`${name} is missing from the installation: install promptrun again`);
}
