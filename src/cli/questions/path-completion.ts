import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expandHome } from '../core/home-path.ts';
import type { Env } from '../core/types.ts';
import { oneLine } from '../terminal/sanitise.ts';

export interface PathPlace {
  readonly cwd: string;
  /** What `~` stands for, as `homeOf` tells it. */
  readonly home: string | undefined;
  readonly proposes: (fileName: string) => boolean;
}

/** The home directory of whoever types; undefined if it is unknown. */
export function homeOf(env: Env): string | undefined {
  return env['HOME'] ?? env['USERPROFILE'];
}

/** Completes a path as a shell does: as far as it is certain, and then lists what it might be. At once, as keys follow. */
export function completePath(
  typed: string,
  place: PathPlace,
): { readonly text: string; readonly candidates: readonly string[] } {
  const cut = Math.max(typed.lastIndexOf('/'), typed.lastIndexOf(path.sep)) + 1;
  const folder = typed.slice(0, cut);
  const begun = typed.slice(cut);
  const candidates = entriesOf(
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

/**
 * The path that was meant: `~` expanded, and the quotes or backslashes taken off that a file dropped on the terminal
 * comes with, unless there is a file of that very name.
 */
export function resolveTypedPath(typed: string, place: Pick<PathPlace, 'cwd' | 'home'>): string {
  const text = typed.trim();
  const quoted = /^'([^']*)'$|^"([^"]*)"$/u.exec(text);
  const readings = [typed, text, quoted?.[1] ?? quoted?.[2], text.replace(/\\(.)/gu, '$1')]
    .filter(reading => reading !== undefined)
    .map(reading => expandHome(reading, place.home));
  for (const reading of readings) {
    if (existsSync(path.resolve(place.cwd, reading))) return reading;
  }
  return expandHome(text, place.home);
}

function entriesOf(
  folder: string,
  begun: string,
  proposes: (fileName: string) => boolean,
): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries
      .filter(({ name }) => name.startsWith(begun) && (begun !== '' || !name.startsWith('.')))
      .filter(({ name }) => oneLine(name) === name)
      .filter(entry => entry.isDirectory() || entry.isSymbolicLink() || proposes(entry.name))
      .map(entry => (entry.isDirectory() ? `${entry.name}/` : entry.name))
      .sort();
  } catch {
    return [];
  }
}

function commonStart(names: readonly string[]): string {
  const [first = '', ...others] = names;
  let { length } = first;
  while (!others.every(name => name.startsWith(first.slice(0, length)))) length -= 1;
  return first.slice(0, length);
}
