import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Completion } from './text-question.ts';

export interface PathPlace {
  readonly cwd: string;
  /** What `~` stands for; nothing where unknown. */
  readonly home: string | undefined;
  readonly proposes: (fileName: string) => boolean;
}

/** Completes a path as a shell does: as far as it is certain, and then shows what it might be. */
export async function completePath(typed: string, place: PathPlace): Promise<Completion> {
  const cut = typed.lastIndexOf('/') + 1;
  const folder = typed.slice(0, cut);
  const begun = typed.slice(cut);
  const candidates = await entriesOf(
    path.resolve(place.cwd, expandHome(folder, place.home)),
    begun,
    place.proposes,
  );
  const certain = commonStart(candidates);
  return {
    text: folder + (certain.length > begun.length ? certain : begun),
    candidates: candidates.length > 1 ? candidates : [],
  };
}

/** The path that was meant: `~` expanded, quotes and backslashes as a dropped file brings them taken off. */
export function meantPath(typed: string, home: string | undefined): string {
  const text = typed.trim();
  const quoted = /^'([^']*)'$|^"([^"]*)"$/.exec(text);
  const plain = quoted?.[1] ?? quoted?.[2] ?? (path.sep === '/' ? text.replace(/\\(.)/g, '$1') : text);
  return expandHome(plain, home);
}

function expandHome(typed: string, home: string | undefined): string {
  return home !== undefined && /^~(\/|$)/.test(typed) ? home + typed.slice(1) : typed;
}

async function entriesOf(
  folder: string,
  begun: string,
  proposes: (fileName: string) => boolean,
): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter(entry => entry.name.startsWith(begun) && (begun !== '' || !entry.name.startsWith('.')))
      .filter(entry => entry.isDirectory() || entry.isSymbolicLink() || proposes(entry.name))
      .map(entry => (entry.isDirectory() ? `${entry.name}/` : entry.name))
      .sort();
  } catch {
    return [];
  }
}

function commonStart(names: readonly string[]): string {
  const [first = '', ...others] = names;
  let length = first.length;
  for (const name of others) {
    while (!name.startsWith(first.slice(0, length))) {
      length -= 1;
    }
  }
  return first.slice(0, length);
}
