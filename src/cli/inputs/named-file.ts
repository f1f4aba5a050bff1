import path from 'node:path';
import {
  explainExcess,
  inspectNamedFile,
  isOnOtherComputer,
  type NamedFile,
  type NamedFileCount,
} from '../../files/named-file.ts';
import type { Context } from '../context.ts';
import { CaseFault, usageError } from '../core/errors.ts';
import { REVISION_MARK } from '../targets/prompt-file.ts';
import { type ImageOpener, isImageUrl, openImage } from './images/image-source.ts';

/** The folder of a possibly untrusted file, and the limits for the files that it names. */
export interface NamingFolder {
  /** The absolute path. */
  readonly cwd: string;
  /** True if it may name files outside the folder. */
  readonly allowOutside: boolean;
  /** Counts the files that one file names; files named in rows are not counted. */
  readonly namedFiles?: NamedFileCount;
  /** Called with the absolute path of each named file. */
  readonly onNamedFile?: (file: string) => void;
}

const MAX_NAMED_FILE_BYTES = 20 * 1024 * 1024;

/**
 * Checks the real path of a file that another file names, before it is opened.
 *
 * @throws {CaseFault} for a git revision, and for a file that is outside the folder, not a regular
 * file, or larger than 20 MiB
 */
export function checkNamedFile(folder: NamingFolder, file: string): void {
  const { cwd, allowOutside, namedFiles, onNamedFile } = folder;

  if (file.includes(REVISION_MARK)) {
    throw new CaseFault(`${file} names a git revision, which only the command line may name`);
  }

  if (isOnOtherComputer(file)) throw new CaseFault(`${file} is on another computer, or a device`);

  const absolutePath = path.resolve(cwd, file);
  onNamedFile?.(absolutePath);
  const fault = findNamedFileFault(absolutePath, allowOutside ? undefined : cwd, namedFiles);
  if (fault === 'outside') {
    throw new CaseFault(`${file} lies outside the folder of the file that names it`, [
      'If you trust that file, add --allow-outside.',
    ]);
  }

  if (fault === 'irregular') throw new CaseFault(`${file} is not a regular file`);
  if (fault === 'large') {
    throw new CaseFault(`${file} is larger than ${MAX_NAMED_FILE_BYTES / 1024 / 1024} MiB`);
  }
  if (fault !== undefined) throw new CaseFault(`${file} ${explainExcess(fault, 'a file')}`);
}

function findNamedFileFault(
  file: string,
  folder: string | undefined,
  namedFiles?: NamedFileCount,
): NamedFile['fault'] {
  try {
    return inspectNamedFile(file, folder, MAX_NAMED_FILE_BYTES, namedFiles).fault;
  } catch {
    // The reader reports a missing file.
    return undefined;
  }
}

/**
 * Returns an opener of images that a file names. Opening one throws like `checkNamedFile` and
 * `openImage`.
 */
export function createNamedImageOpener(ctx: Context, folder: NamingFolder): ImageOpener {
  const { cwd } = folder;
  return {
    cwd,
    async open(source) {
      if (source === '-') {
        throw usageError("an image that a file names can't come from standard input");
      }
      if (!isImageUrl(source)) checkNamedFile(folder, source);
      return openImage({ ...ctx, cwd }, source);
    },
  };
}
