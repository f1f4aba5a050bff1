import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { assetBytes, isSingleFile } from './single-file.ts';

/**
 * Finds a file of this installation in the directories above the running code, which is in dist/, dist/chunks/ or src/.
 * The single executable has no such files.
 *
 * @param names possible paths below one of these directories, the most likely first
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

/** Reads a file of this installation or of the single executable. Names as for `installedFile`. */
export function installedBytes(name: string, ...others: readonly string[]): Buffer {
  return isSingleFile() ? assetBytes(name) : readFileSync(installedFile(name, ...others));
}

/** Reads a file like `installedBytes`, as text. */
export function installedText(name: string, ...others: readonly string[]): string {
  return installedBytes(name, ...others).toString('utf8');
}

/** Finds a build output for a separate process. @throws {Error} if the installation lacks it */
export function builtFile(name: string): string {
  return installedFile(`dist/${name}`, name);
}

/** Reads a build output for a web page. @throws {Error} if the installation lacks it */
export function builtText(name: string): string {
  return installedText(`dist/${name}`, name);
}
