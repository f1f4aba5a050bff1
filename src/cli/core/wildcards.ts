import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

/**
 * Replaces names with `*` in their last part by the matching files, in alphabetical order, because
 * the shells of Windows don't. Keeps the names of existing files, and names that nothing matches.
 */
export function expandWildcards(names: readonly string[], cwd: string): string[] {
  return names.flatMap(name => {
    const patternStart = Math.max(name.lastIndexOf('/'), name.lastIndexOf(path.sep)) + 1;
    const folder = name.slice(0, patternStart);
    const pattern = name.slice(patternStart);
    if (!pattern.includes('*') || existsSync(path.resolve(cwd, name))) return [name];

    // macOS may list `é` as two characters, and it is typed as one.
    const matchingFiles = readNames(path.resolve(cwd, folder)).filter(file =>
      matchesPattern(file.normalize('NFC'), pattern.normalize('NFC')),
    );
    return matchingFiles.length === 0 ? [name] : matchingFiles.sort().map(file => folder + file);
  });
}

function readNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/**
 * Returns true if a name matches a pattern; as in a shell, `*` does not match a dot at the
 * beginning.
 */
function matchesPattern(name: string, pattern: string): boolean {
  const [prefix = '', ...innerParts] = pattern.split('*');
  const suffix = innerParts.pop() ?? '';
  if (name.startsWith('.') && !prefix.startsWith('.')) return false;
  if (!name.startsWith(prefix)) return false;

  let position = prefix.length;
  for (const innerPart of innerParts) {
    const partStart = name.indexOf(innerPart, position);
    if (partStart < 0) return false;
    position = partStart + innerPart.length;
  }

  return name.length - position >= suffix.length && name.endsWith(suffix);
}
