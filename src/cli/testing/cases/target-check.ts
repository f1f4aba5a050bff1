import { existsSync } from 'node:fs';
import path from 'node:path';
import { isBelow } from '../../../files/named-file.ts';
import type { FoundTests } from './find-test-files.ts';

/** Returns true if the target of a test file may be read. */
export type TargetCheck = (testFile: string, target: string) => boolean;

/**
 * Returns a check of a test file's target. Allowed are targets below the working directory, below a
 * directory that `test` searched, or in the repository of either. A test file named on the command
 * line may have any target.
 */
export function createTargetCheck(
  cwd: string,
  { namedPaths, directories }: FoundTests,
): TargetCheck {
  const startFolders = [cwd, ...directories];
  const repositories = startFolders.flatMap(folder => findNearestRepository(folder) ?? []);
  const allowedFolders = new Set([...startFolders, ...repositories]);
  return (testFile, target) =>
    namedPaths.has(testFile) || [...allowedFolders].some(folder => isBelow(folder, target));
}

/** Returns the nearest parent folder with a `.git`. */
function findNearestRepository(folder: string): string | undefined {
  if (existsSync(path.join(folder, '.git'))) return folder;
  const parent = path.dirname(folder);
  return parent === folder ? undefined : findNearestRepository(parent);
}
