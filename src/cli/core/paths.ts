import path from 'node:path';

/**
 * Expands `~` at the beginning of a typed path, like a shell; unchanged if the home directory is
 * unknown.
 */
export function expandHome(
  typed: string,
  home: string | undefined,
  platform: NodeJS.Platform = process.platform,
): string {
  const begins = platform === 'win32' ? /^~(?:[\\/]|$)/u : /^~(?:\/|$)/u;
  return home !== undefined && begins.test(typed) ? home + typed.slice(1) : typed;
}

/** Returns a file's path relative to a folder, with `/` on every system. */
export function toSharedPath(folder: string, file: string, { relative, sep } = path): string {
  return (relative(folder, file) || file).split(sep).join('/');
}

/** Returns a file's path, relative if it is below the working directory. */
export function formatPath({ cwd }: { readonly cwd: string }, file: string): string {
  const relative = path.relative(cwd, path.resolve(cwd, file));
  return relative.startsWith('..') || path.isAbsolute(relative) ? file : relative;
}
