import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { getErrorCode } from '../utils/error-utils.ts';
import { formatNumber } from '../utils/format-number.ts';
import { isLink } from './writing/write-below.ts';

/**
 * The reason not to open a named file. `file count` and `total size` mean that the files exceed a
 * maximum together.
 */
export type NamedFileFault = 'outside' | 'irregular' | 'large' | NamedFilesExcess;

type NamedFilesExcess = 'file count' | 'total size';

/** Maximum number and total size of the files that one file names. */
const MAX_NAMED_FILES = 1000;
const MAX_NAMED_BYTES = 64 * 1024 * 1024;

/** Counts the distinct files that one file names. */
export class NamedFileCount {
  readonly #countedPaths = new Set<string>();
  #bytes = 0;

  /** Counts a file once; returns the maximum that it exceeds. */
  add(realPath: string, bytes: number): NamedFilesExcess | undefined {
    if (this.#countedPaths.has(realPath)) return undefined;
    if (this.#countedPaths.size >= MAX_NAMED_FILES) return 'file count';
    if (this.#bytes + bytes > MAX_NAMED_BYTES) return 'total size';
    this.#countedPaths.add(realPath);
    this.#bytes += bytes;
    return undefined;
  }
}

/**
 * Explains why a file is one too many.
 *
 * @param namingFile the file that names it, such as `a configuration`
 */
export function explainExcess(fault: NamedFilesExcess, namingFile: string): string {
  const limit =
    fault === 'file count'
      ? `${namingFile} may name ${formatNumber(MAX_NAMED_FILES)} different ones`
      : `those that ${namingFile} names may have ${MAX_NAMED_BYTES / 1024 / 1024} MiB in all`;
  return `is one file too many: ${limit}`;
}

/** The real path of a file that another file names, with the reason not to open it. */
export interface NamedFile {
  readonly realPath: string;
  readonly fault: NamedFileFault | undefined;
}

/**
 * Checks a file that an untrusted file names before it is opened: reading a device or a pipe might
 * never end. A missing file outside the folder is `outside` too, so that the untrusted file can't
 * find out what exists there.
 *
 * @param folder the folder that must contain it; undefined allows any
 * @param countedFiles counts the file if it may be opened
 * @throws file system errors
 */
export function inspectNamedFile(
  file: string,
  folder: string | undefined,
  maxBytes: number,
  countedFiles?: NamedFileCount,
): NamedFile {
  const root = folder === undefined ? undefined : resolveRealPath(folder);
  const realPath = resolvePathUnlessLoop(file, root);
  if (realPath === undefined) return { realPath: file, fault: 'irregular' };
  if (root !== undefined && !isInFolder(root, realPath)) return { realPath, fault: 'outside' };

  const stats = statSync(realPath);
  if (!stats.isFile()) return { realPath, fault: 'irregular' };
  if (stats.size > maxBytes) return { realPath, fault: 'large' };

  const fault = countedFiles?.add(realPath, stats.size);
  return { realPath, fault };
}

/**
 * Returns true if a name means another computer or a device on Windows, such as `\\host\share` or
 * `\\.\…`. Even a stat connects to that computer, so an untrusted file must not name one.
 */
export function isOnOtherComputer(name: string, platform = process.platform): boolean {
  return platform === 'win32' && /^[\\/]{2}/u.test(name);
}

/**
 * Explains why a file found in a folder is left out: by its real path it has to be a regular file
 * below the folder. Returns undefined if it can be used, or no longer exists.
 */
export function explainExclusion(file: string, folder: string): string | undefined {
  try {
    const { fault } = inspectNamedFile(file, folder, Number.POSITIVE_INFINITY);
    if (fault === 'outside') return `it leads out of ${folder}`;
    return fault === 'irregular' ? 'it is not a regular file' : undefined;
  } catch {
    return isLink(file) ? 'it is a link to nothing' : undefined;
  }
}

/**
 * Returns true if a file is the folder or below it, by their real paths; false if it does not
 * exist.
 */
export function isBelow(folder: string, file: string): boolean {
  try {
    return isInFolder(resolveRealPath(folder), resolveRealPath(file));
  } catch {
    return false;
  }
}

/**
 * Returns the real path. The native call also corrects the case of letters on case-insensitive file
 * systems.
 */
function resolveRealPath(file: string): string {
  return realpathSync.native(file);
}

/**
 * Returns the real path; undefined for links that lead back to themselves. For a missing file
 * outside the folder `root`, returns the path that it would have.
 *
 * @throws file system errors
 */
function resolvePathUnlessLoop(file: string, root: string | undefined): string | undefined {
  try {
    return resolveRealPath(file);
  } catch (error) {
    if (getErrorCode(error) === 'ELOOP') return undefined;
    if (root === undefined) throw error;
    const futurePath = resolveFuturePath(file);
    if (isInFolder(root, futurePath)) throw error;
    return futurePath;
  }
}

/**
 * Returns the path that a missing file would have: the real path of the nearest folder that exists,
 * and the rest.
 */
function resolveFuturePath(file: string): string {
  for (let ancestor = path.dirname(file); ; ancestor = path.dirname(ancestor)) {
    try {
      return path.join(resolveRealPath(ancestor), path.relative(ancestor, file));
    } catch {
      if (ancestor === path.dirname(ancestor)) return file;
    }
  }
}

function isInFolder(folder: string, file: string): boolean {
  const relative = path.relative(folder, file);
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}
