import { existsSync } from 'node:fs';
import path from 'node:path';
import { expandHome, type PathPlace, pathsFrom } from '../core/paths.ts';
import { oneLine } from '../terminal/sanitise.ts';

/** Completes a path as a shell does: as far as it is certain, and then lists what it might be. At once, as keys follow. */
export function completePath(
  typed: string,
  place: PathPlace & { readonly proposes: (fileName: string) => boolean },
): { readonly text: string; readonly candidates: readonly string[] } {
  const paths = pathsFrom(typed, place, place.proposes).filter(one => oneLine(one) === one);
  const names = paths.map(one => `${path.basename(one)}${one.endsWith('/') ? '/' : ''}`);
  return { text: commonStart(paths) || typed, candidates: names.length > 1 ? names : [] };
}

/**
 * The path that was meant: `~` expanded, and the quotes or backslashes taken off that a file dropped on the terminal
 * comes with, unless there is a file of that very name.
 */
export function resolveTypedPath(typed: string, place: PathPlace): string {
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

function commonStart(names: readonly string[]): string {
  const [first = '', ...others] = names;
  let { length } = first;
  while (!others.every(name => name.startsWith(first.slice(0, length)))) length -= 1;
  return first.slice(0, length);
}
