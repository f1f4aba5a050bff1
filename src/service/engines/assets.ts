import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Where a file that ships with the package is: among the assets of the build, beside the command or above its chunks, or
 * at its place in the sources.
 *
 * @param source relative to this file
 * @throws {Error} if the installation lacks it
 */
export function assetFile(name: string, source: string): string {
  const places = [`./assets/${name}`, `../assets/${name}`, source];
  const file = places.map(place => fileURLToPath(new URL(place, import.meta.url))).find(existsSync);
  if (file === undefined) {
    throw new Error(`${name} is missing from the installation: install promptrun again`);
  }
  return file;
}
