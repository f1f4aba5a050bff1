import path from 'node:path';

/** Returns a file's path, relative if it is below the working directory. */
export function shownPath({ cwd }: { readonly cwd: string }, file: string): string {
  const relative = path.relative(cwd, path.resolve(cwd, file));
  return relative.startsWith('..') || path.isAbsolute(relative) ? file : relative;
}
