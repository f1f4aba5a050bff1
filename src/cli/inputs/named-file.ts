import path from 'node:path';
import {
  lookAtNamedFile,
  MOST_NAMED_BYTES,
  MOST_NAMED_FILES,
  type NamedFile,
  type NamedFiles,
  namesOtherComputer,
} from '../../files/named-file.ts';
import type { Context } from '../context.ts';
import { CaseFault, usageError } from '../errors.ts';
import { REVISION_MARK } from '../targets/named-prompt-file.ts';
import { type ImageFinder, isImageUrl, openImage } from './images/image-source.ts';

/** Where a file that may be a stranger's stands, and what it may name. */
export interface NamingFolder {
  /** Absolute. */
  readonly cwd: string;
  /** Whether it may name files elsewhere. */
  readonly allowOutside: boolean;
  /** Counts the files that one file names; what rows name is not counted. */
  readonly counted?: NamedFiles;
  /** Told of each file that is named, absolute. */
  readonly onNamed?: (file: string) => void;
}

/** In bytes. */
const LARGEST = 20 * 1024 * 1024;

/**
 * Checks a file that another file names, by its real path, before it is opened.
 *
 * @throws {CaseFault} for a git revision, and for a file that lies elsewhere, is not a regular file, or is larger than 20 MiB
 */
export function checkNamedFile(folder: NamingFolder, file: string): void {
  const { cwd, allowOutside, counted, onNamed } = folder;
  if (file.includes(REVISION_MARK))
    throw new CaseFault(`${file} names a git revision, which only the command line may name`);
  if (namesOtherComputer(file)) throw new CaseFault(`${file} is on another computer, or a device`);
  const whole = path.resolve(cwd, file);
  onNamed?.(whole);
  const fault = namedFileFault(whole, allowOutside ? undefined : cwd, counted);
  if (fault === 'outside') {
    throw new CaseFault(`${file} lies outside of the folder of the file that names it`, [
      'If you trust that file, add --allow-outside.',
    ]);
  }
  if (fault === 'irregular') throw new CaseFault(`${file} is not a regular file`);
  if (fault === 'large') throw new CaseFault(`${file} is larger than 20 MiB`);
  if (fault !== undefined) throw new CaseFault(`${file} is one file too many: ${TOO_MANY[fault]}`);
}

const TOO_MANY = {
  many: `a file may name ${MOST_NAMED_FILES.toLocaleString('en')} different ones`,
  much: `those that a file names may have ${MOST_NAMED_BYTES / 1024 / 1024} MiB in all`,
};

function namedFileFault(file: string, folder: string | undefined, counted?: NamedFiles): NamedFile['fault'] {
  try {
    return lookAtNamedFile(file, folder, LARGEST, counted).fault;
  } catch {
    // What isn't there is said by who reads it.
    return undefined;
  }
}

/** Images that a file names, found from its folder. Opening one throws as `checkNamedFile` and `openImage` do. */
export function imagesNamedIn(ctx: Context, folder: NamingFolder): ImageFinder {
  const { cwd } = folder;
  return {
    cwd,
    async open(source) {
      if (source === '-') throw usageError("an image that a file names can't come from standard input");
      if (!isImageUrl(source)) checkNamedFile(folder, source);
      return openImage({ ...ctx, cwd }, source);
    },
  };
}
