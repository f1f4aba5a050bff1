import path from 'node:path';

const POSIX_HOME_PREFIX = /^~(?:\/|$)/u;
const WINDOWS_HOME_PREFIX = /^~(?:[\\/]|$)/u;

/**
 * Replaces `~` at the beginning of a typed path by the home directory, as a shell does. Returns the
 * path unchanged if that directory is unknown.
 */
export function expandHome(
  typedPath: string,
  home: string | undefined,
  platform: NodeJS.Platform = process.platform,
): string {
  const homePrefix = platform === 'win32' ? WINDOWS_HOME_PREFIX : POSIX_HOME_PREFIX;
  return home !== undefined && homePrefix.test(typedPath) ? home + typedPath.slice(1) : typedPath;
}

/** Returns a file's path relative to a folder, with `/` on every system. */
export function toPosixRelativePath(
  folder: string,
  file: string,
  { relative, sep } = path,
): string {
  return (relative(folder, file) || file).split(sep).join('/');
}

/** Shortens the path of a file below the working directory to its relative one. */
export function formatPath({ cwd }: { readonly cwd: string }, file: string): string {
  const relative = path.relative(cwd, path.resolve(cwd, file));
  return relative.startsWith('..') || path.isAbsolute(relative) ? file : relative;
}
