import { existsSync } from 'node:fs';
import path from 'node:path';
import { expandHome } from '../core/paths.ts';
import { toOneLine } from '../terminal/sanitise.ts';
import { listPathCompletions, type PathContext } from './path-completions.ts';

/**
 * Completes a path like a shell: the unambiguous part, then the candidates. Synchronous, because
 * further keys follow.
 */
export function completePath(
  typedPath: string,
  context: PathContext & { readonly isProposed: (fileName: string) => boolean },
): { readonly text: string; readonly candidates: readonly string[] } {
  const paths = listPathCompletions(typedPath, context, context.isProposed).filter(
    file => toOneLine(file) === file,
  );
  const names = paths.map(file => `${path.basename(file)}${file.endsWith('/') ? '/' : ''}`);
  return { text: getCommonStart(paths) || typedPath, candidates: names.length > 1 ? names : [] };
}

/**
 * Returns the intended path: expands `~` and removes the quotes or backslashes that terminals add
 * to dropped files, unless a file of exactly that name exists.
 */
export function resolveTypedPath(typedPath: string, context: PathContext): string {
  const text = typedPath.trim();
  const quotedText = /^'([^']*)'$|^"([^"]*)"$/u.exec(text);

  const readings = [
    typedPath,
    text,
    quotedText?.[1] ?? quotedText?.[2],
    text.replace(/\\(.)/gu, '$1'),
  ]
    .filter(reading => reading !== undefined)
    .map(reading => expandHome(reading, context.home));
  for (const reading of readings) {
    if (existsSync(path.resolve(context.cwd, reading))) return reading;
  }

  return expandHome(text, context.home);
}

function getCommonStart(names: readonly string[]): string {
  const [first = '', ...others] = names;
  let { length } = first;
  while (!others.every(name => name.startsWith(first.slice(0, length)))) length -= 1;
  return first.slice(0, length);
}
