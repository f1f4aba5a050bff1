import { type Dirent, readdirSync } from 'node:fs';
import path from 'node:path';
import { type FilePosition, faultAt } from '../../../../files/formats/file-fault.ts';
import { getErrorMessage } from '../../../../utils/error-utils.ts';

/** Matches a wildcard, or alternatives such as `{a,b}`. */
const WILDCARD_PART = /\*\*\/|\*\*|\*|\?|\{([^{}]*)\}/gu;

/** Regular expressions for the wildcards. */
const WILDCARDS: Readonly<Record<string, string>> = {
  '**/': '(?:[^/]+/)*',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
};

/** Returns the entries of a folder; for a pattern with `**`, also those of the folders below it. */
export function listEntriesBelow(folder: string, pattern: string, place: FilePosition): Dirent[] {
  try {
    return readdirSync(folder, { recursive: pattern.includes('**'), withFileTypes: true });
  } catch (error) {
    throw faultAt(place, `${pattern} can't be read: ${getErrorMessage(error)}`);
  }
}

/** Returns true for a part of a path that is a pattern. */
export function isGlob(step: string): boolean {
  return /[*?[{]/u.test(step);
}

/** Compiles a glob: `*` and `?` match within a name, `**` matches folders, `{a,b}` alternatives. */
export function compileGlob(pattern: string): RegExp {
  const escapedPattern = path.posix.normalize(pattern).replaceAll(/[.+^$()|\\]/gu, String.raw`\$&`);
  const source = convertWildcards(escapedPattern);
  // oxlint-disable-next-line require-unicode-regexp -- class brackets of a glob may hold what `u` refuses
  return new RegExp(`^${source}$`);
}

function convertWildcards(pattern: string): string {
  return pattern.replaceAll(WILDCARD_PART, (part, alternatives: string | undefined) => {
    if (alternatives === undefined) return WILDCARDS[part] ?? '';
    return `(?:${alternatives.split(',').map(convertWildcards).join('|')})`;
  });
}
