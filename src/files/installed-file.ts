import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Where a file of this installation is, looked for from the running code upwards: built code lies in dist/ or
 * dist/chunks/, sources below src/.
 *
 * @param names paths below one of these directories, the likeliest first
 * @throws {Error} if the installation lacks it
 */
export function installedFile(...names: readonly string[]): string {
  for (const name of names) {
    let directory = fileURLToPath(import.meta.url);
    while (directory !== path.dirname(directory)) {
      directory = path.dirname(directory);
      const file = path.join(directory, name);
      if (existsSync(file)) return file;
    }
  }
  throw new Error(`${names[0]} is missing from the installation: install promptrun again`);
}

/** A file that the build makes for a process or a page of its own. @throws {Error} if the installation lacks it */
export function builtFile(name: string): string {
  return installedFile(`dist/${name}`, name);
}
