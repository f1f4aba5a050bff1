import { type Dirent, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { explainExclusion } from '../../files/named-file.ts';
import { expandHome } from '../core/paths.ts';

/** The context of typed paths: the working directory, and the meaning of `~`, if known. */
export interface PathContext {
  readonly cwd: string;
  readonly home: string | undefined;
}

/** Maximum number of matching entries to look at. */
const MAX_MATCHED_ENTRIES = 1000;

/**
 * Returns the completions of a typed path in alphabetical order: proposed files, and directories
 * with a slash at the end. Synchronous, because loading `node:fs/promises` takes longer than the
 * look-up.
 *
 * @returns whole paths that begin as typed
 */
export function listPathCompletions(
  typedPath: string,
  { cwd, home }: PathContext,
  isProposed: (name: string) => boolean,
  platform: NodeJS.Platform = process.platform,
): string[] {
  const nameStart = Math.max(typedPath.lastIndexOf('/'), typedPath.lastIndexOf(path.sep)) + 1;
  const folder = typedPath.slice(0, nameStart);
  const prefix = typedPath.slice(nameStart);
  const directory = path.resolve(cwd, expandHome(folder, home));

  return readDirectoryEntries(directory)
    .map(entry => ({ entry, name: toTypedName(entry.name, platform) }))
    .filter(
      ({ name }) => name.startsWith(prefix) && (prefix.startsWith('.') || !name.startsWith('.')),
    )
    .slice(0, MAX_MATCHED_ENTRIES)
    .flatMap(({ entry, name }) => {
      if (isDirectoryEntry(directory, entry)) return [`${folder}${name}/`];
      return isProposed(entry.name) && isReadable(directory, entry) ? [folder + name] : [];
    })
    .sort();
}

/**
 * Returns a name as it is typed. macOS may list `é` as two characters, and opens the file under
 * either name.
 */
function toTypedName(name: string, platform: NodeJS.Platform): string {
  return platform === 'darwin' ? name.normalize('NFC') : name;
}

function readDirectoryEntries(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

/**
 * Returns true for files, and for links to files that may be read from here; not for pipes and
 * devices.
 */
function isReadable(directory: string, entry: Dirent): boolean {
  if (entry.isFile()) return true;
  return (
    entry.isSymbolicLink() &&
    explainExclusion(path.join(directory, entry.name), directory) === undefined
  );
}

function isDirectoryEntry(directory: string, entry: Dirent): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  try {
    return statSync(path.join(directory, entry.name)).isDirectory();
  } catch {
    return false;
  }
}
