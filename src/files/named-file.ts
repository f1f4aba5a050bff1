import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';

/** A file that another file names, by its real path, and why it must not be opened. */
export interface NamedFile {
  readonly real: string;
  readonly fault: 'outside' | 'irregular' | 'large' | undefined;
}

/**
 * Looks at a file that a stranger's file may name, before it is opened: a device or a pipe could be read without end.
 *
 * @param folder below which it must lie; undefined if it may lie anywhere
 * @throws what the file system says
 */
export function lookAtNamedFile(file: string, folder: string | undefined, mostBytes: number): NamedFile {
  const real = realpathSync(file);
  if (folder !== undefined && !isBelow(realpathSync(folder), real)) return { real, fault: 'outside' };
  const stats = statSync(real);
  if (!stats.isFile()) return { real, fault: 'irregular' };
  return { real, fault: stats.size > mostBytes ? 'large' : undefined };
}

function isBelow(folder: string, file: string): boolean {
  const way = path.relative(folder, file);
  return way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}
