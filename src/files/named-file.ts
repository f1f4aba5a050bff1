import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { isLink } from './write-below.ts';

/** Many and much: with this file, the one that names it names too many, or too much in all. */
export type NamedFileFault = 'outside' | 'irregular' | 'large' | 'many' | 'much';

/** What one file may name. */
export const MOST_NAMED_FILES = 1000;
export const MOST_NAMED_BYTES = 64 * 1024 * 1024;

/** The different files that one file names. */
export class NamedFiles {
  readonly #seen = new Set<string>();
  #bytes = 0;

  /** Counts a file, each once; `many` or `much` if that is beyond a bound. */
  add(real: string, bytes: number): 'many' | 'much' | undefined {
    if (this.#seen.has(real)) return undefined;
    if (this.#seen.size >= MOST_NAMED_FILES) return 'many';
    if (this.#bytes + bytes > MOST_NAMED_BYTES) return 'much';
    this.#seen.add(real);
    this.#bytes += bytes;
    return undefined;
  }
}

/** A file that another file names, by its real path, and why it must not be opened. */
export interface NamedFile {
  readonly real: string;
  readonly fault: NamedFileFault | undefined;
}

/**
 * Looks at a file that a stranger's file may name, before it is opened: a device or a pipe could be read without end.
 *
 * @param folder below which it must lie; undefined if it may lie anywhere
 * @param counted counts it, unless it must not be opened anyway
 * @throws what the file system says
 */
export function lookAtNamedFile(
  file: string,
  folder: string | undefined,
  mostBytes: number,
  counted?: NamedFiles,
): NamedFile {
  const real = realPathOf(file);
  if (folder !== undefined && !isWithin(realPathOf(folder), real)) return { real, fault: 'outside' };
  const stats = statSync(real);
  if (!stats.isFile()) return { real, fault: 'irregular' };
  return { real, fault: stats.size > mostBytes ? 'large' : counted?.add(real, stats.size) };
}

/**
 * Returns true for a name of another computer or of a device, `\\\\host\\share` or `\\\\.\\…`, where names mean that. To ask the
 * system about such a file is to connect to that computer, so a stranger's file must not name one.
 */
export function namesOtherComputer(name: string, platform = process.platform): boolean {
  return platform === 'win32' && /^[\\/]{2}/u.test(name);
}

/**
 * Returns why a file that the program found by itself is left out: it has to be a regular file below the folder in which
 * the program looks, by its real path. Undefined for one that can be used, and for one that is gone by now.
 */
export function whyLeftOut(file: string, folder: string): string | undefined {
  try {
    const { fault } = lookAtNamedFile(file, folder, Number.POSITIVE_INFINITY);
    if (fault === 'outside') return `it leads out of ${folder}`;
    return fault === 'irregular' ? 'it is not a regular file' : undefined;
  } catch {
    return isLink(file) ? 'it is a link to nothing' : undefined;
  }
}

/** Returns true for a file or folder in or below a folder, by their real paths; false for what is not there. */
export function isBelow(folder: string, file: string): boolean {
  try {
    return isWithin(realPathOf(folder), realPathOf(file));
  } catch {
    return false;
  }
}

/** Node's own way keeps the case of letters as it is written, where the file system's names have another. */
function realPathOf(file: string): string {
  return realpathSync.native(file);
}

function isWithin(folder: string, file: string): boolean {
  const way = path.relative(folder, file);
  return way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}
