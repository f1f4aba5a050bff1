import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isSingleFile, readAssetBytes } from './single-file.ts';

/**
 * Finds a file of this installation in the directories above the running code, which is in dist/,
 * dist/chunks/ or src/. The single executable has no such files.
 *
 * @param names possible paths below one of these directories, the most likely first
 * @throws {Error} if the installation lacks it
 */
export function resolveInstalledFile(...names: readonly string[]): string {
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

/**
 * Reads a file of this installation or of the single executable. Names as for
 * `resolveInstalledFile`.
 */
export function readInstalledBytes(name: string, ...alternatives: readonly string[]): Buffer {
  return isSingleFile()
    ? readAssetBytes(name)
    : readFileSync(resolveInstalledFile(name, ...alternatives));
}

/** Reads a file like `readInstalledBytes`, as text. */
export function readInstalledText(name: string, ...alternatives: readonly string[]): string {
  return readInstalledBytes(name, ...alternatives).toString('utf8');
}

/** Finds a build output for a separate process. @throws {Error} if the installation lacks it */
export function resolveBuiltFile(name: string): string {
  return resolveInstalledFile(`dist/${name}`, name);
}

/** Reads a build output for a web page. @throws {Error} if the installation lacks it */
export function readBuiltText(name: string): string {
  return readInstalledText(`dist/${name}`, name);
}
