import { existsSync } from 'node:fs';
import path from 'node:path';
import { isBelow } from '../../../files/named-file.ts';
import type { FoundTests } from './find-test-files.ts';

/** Tells whether the target of a test file may be read. */
export type TargetCheck = (testFile: string, target: string) => boolean;

/**
 * Returns what tells whether a test file may have a target: one below the working directory, below a directory that
 * `test` looked through, or in a repository in which they lie. A test file that was named may have any.
 */
export function checkOfTargets(cwd: string, { named, directories }: FoundTests): TargetCheck {
  const places = [cwd, ...directories];
  const folders = new Set([...places, ...places.flatMap(place => repositoryOf(place) ?? [])]);
  return (testFile, target) => named.has(testFile) || [...folders].some(folder => isBelow(folder, target));
}

/** The nearest folder upwards with a `.git`. */
function repositoryOf(folder: string): string | undefined {
  if (existsSync(path.join(folder, '.git'))) return folder;
  const above = path.dirname(folder);
  return above === folder ? undefined : repositoryOf(above);
}
