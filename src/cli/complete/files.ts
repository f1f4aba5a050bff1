import { type Dirent, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { expandHome } from '../core/home-path.ts';

/** Something the word under the cursor may become. */
export interface Candidate {
  /** The whole word, unquoted. */
  readonly value: string;
  readonly description?: string;
  /** Whether the word goes on after it, as after `key=` or a directory: no space is added. */
  readonly goesOn?: boolean;
}

const MOST_FILES = 1000;

/**
 * Files whose path starts with what was typed, and directories to go on into. At once: to load `node:fs/promises` takes
 * longer than to look.
 */
export function fileCandidates(
  typed: string,
  place: { readonly cwd: string; readonly home: string | undefined },
  wanted: (name: string) => boolean = () => true,
): Candidate[] {
  const start = typed.slice(0, typed.lastIndexOf('/') + 1);
  const hidden = typed.slice(start.length).startsWith('.');
  const directory = path.resolve(place.cwd, expandHome(start, place.home));
  const entries = entriesOf(directory);
  const candidates: Candidate[] = [];
  for (const entry of entries.slice(0, MOST_FILES)) {
    const value = start + entry.name;
    if (!value.startsWith(typed) || (entry.name.startsWith('.') && !hidden)) continue;
    if (isDirectory(directory, entry)) candidates.push({ value: `${value}/`, goesOn: true });
    else if (wanted(entry.name)) candidates.push({ value });
  }
  return candidates;
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}

function isDirectory(directory: string, entry: Dirent): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  try {
    return statSync(path.join(directory, entry.name)).isDirectory();
  } catch {
    return false;
  }
}
