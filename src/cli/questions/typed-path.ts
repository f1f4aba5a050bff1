import { existsSync } from 'node:fs';
import path from 'node:path';
import { expandHome } from '../core/paths.ts';
import { toOneLine } from '../terminal/sanitise.ts';
import { listPathCompletions, type PathContext } from './path-completions.ts';

/**
 * Completes a path like a shell: the unambiguous part, then the candidates. Synchronous, so that a
 * key that is typed meanwhile is not handled before the completion.
 */
export function completePath(
  typedPath: string,
  context: PathContext & { readonly isProposed: (fileName: string) => boolean },
): { readonly text: string; readonly candidates: readonly string[] } {
  const paths = listPathCompletions(typedPath, context, context.isProposed).filter(
    listedPath => toOneLine(listedPath) === listedPath,
  );
  const names = paths.map(
    listedPath => `${path.basename(listedPath)}${listedPath.endsWith('/') ? '/' : ''}`,
  );
  return { text: getCommonStart(paths) || typedPath, candidates: names.length > 1 ? names : [] };
}

/**
 * Returns the intended path: expands `~`, and removes the quotes around it, or the backslashes that
 * terminals add to dropped files. An existing file of exactly the typed name wins; backslashes stay
 * in the path of a missing file, because they separate folders on Windows.
 */
export function resolveTypedPath(typedPath: string, context: PathContext): string {
  const text = typedPath.trim();
  const quoted = /^'([^']*)'$|^"([^"]*)"$/u.exec(text);
  const unquotedText = quoted?.[1] ?? quoted?.[2] ?? text;

  const candidates = [typedPath, text, unquotedText, text.replace(/\\(.)/gu, '$1')];
  const expandedPaths = candidates.map(candidate => expandHome(candidate, context.home));
  return (
    expandedPaths.find(expandedPath => existsSync(path.resolve(context.cwd, expandedPath))) ??
    expandHome(unquotedText, context.home)
  );
}

/** Returns the longest start that all names have, in whole characters. */
function getCommonStart(names: readonly string[]): string {
  const [firstName = '', ...otherNames] = names;
  let start = '';
  for (const character of firstName) {
    if (!otherNames.every(name => name.startsWith(start + character))) break;
    start += character;
  }
  return start;
}
