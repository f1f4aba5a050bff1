import { readFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { inspectNamedFile } from '../../files/named-file.ts';
import { decodeUtf8, describeEncodingFault } from '../../files/read-text.ts';
import { getErrorCode, getErrorMessage } from '../../utils/error-utils.ts';
import { BOUNDS } from '../bounds.ts';
import { InvalidPromptFileError } from '../findings.ts';
import { isPartialFile, PROMPT_FILE_EXTENSION } from '../slug.ts';
import type { PartialLookup } from '../template/syntax.ts';
import type { ReadSibling } from './named-schemas.ts';

/** Matches a segment of a partial's name, but not `..` and `.hidden`. */
const PARTIAL_NAME_SEGMENT = /^[\p{L}\p{N}_-][\p{L}\p{M}\p{N}._-]*$/u;

const UNREADABLE_FILE_MESSAGES = {
  outside: 'the file leads out of its folder: --allow-outside allows it',
  irregular: 'this is not a file',
  large: `the file is larger than ${BOUNDS.fileBytes / 1024} KiB`,
  'file count': 'this is one file too many',
  'total size': 'the files are too large together',
};

/**
 * Reads the text of a prompt file.
 *
 * @throws {InvalidPromptFileError} if it is not a file, too large, or not UTF-8
 */
export async function readPromptText(file: string): Promise<string> {
  const stats = await stat(file);
  if (!stats.isFile()) throw new InvalidPromptFileError(file, 1, 'this is not a file');

  // Files of other tools also hold test data, so their limit is higher.
  const maxBytes = file.endsWith(PROMPT_FILE_EXTENSION) ? BOUNDS.fileBytes : BOUNDS.foreignBytes;
  if (stats.size > maxBytes) {
    throw new InvalidPromptFileError(file, 1, `the file is larger than ${maxBytes / 1024} KiB`);
  }

  return decodePrompt(file, await readFile(file));
}

/** The places of the files that a prompt file may use. */
interface FolderOptions {
  /** True if a link may lead out of the file's folder; default false. */
  readonly allowOutside?: boolean | undefined;
}

/**
 * Returns a lookup of the partials of a prompt file: `{{> name}}` is `_name.prompt` in its folder
 * or below.
 */
export function createPartialLookup(
  file: string,
  { allowOutside = false }: FolderOptions = {},
): PartialLookup {
  return name => {
    const partial = findPartialPath(path.dirname(file), name);
    if (partial === undefined) {
      return {
        fault: `unknown partial \`${name}\`: partials must be next to their prompt, or below it`,
      };
    }
    try {
      return readPartial(partial, name, allowOutside ? undefined : path.dirname(file));
    } catch (error) {
      if (isMissing(error)) return undefined;
      return { fault: `the partial \`${name}\` can't be read: ${getErrorMessage(error)}` };
    }
  };
}

function readPartial(
  file: string,
  name: string,
  folder: string | undefined,
): ReturnType<PartialLookup> {
  const { realPath, fault } = inspectNamedFile(file, folder, BOUNDS.fileBytes);
  if (fault === 'outside') {
    const problem =
      'lies outside the folder of its prompt (--allow-outside allows runs and checks of it)';
    return { fault: `the partial \`${name}\` ${problem}` };
  }

  if (fault === 'irregular') return { fault: `the partial \`${name}\` is not a file` };

  if (fault === 'large') {
    return { fault: `the partial \`${name}\` is larger than ${BOUNDS.fileBytes / 1024} KiB` };
  }

  const bytes = readFileSync(realPath);
  const text = decodeUtf8(bytes);
  if (text !== undefined) {
    // A prompt's text is normalised when its front matter is split off; a partial has none.
    return { file, text: text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n') };
  }

  return { fault: `the partial \`${name}\` is ${describeEncodingFault(bytes)}` };
}

function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(getErrorCode(error) ?? '');
}

function decodePrompt(file: string, bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text === undefined) {
    throw new InvalidPromptFileError(file, 1, `the file is ${describeEncodingFault(bytes)}`);
  }
  return text;
}

/** Returns a function that reads other files in a prompt file's folder or below, by name. */
export function createSiblingReader(
  file: string,
  { allowOutside = false }: FolderOptions = {},
): ReadSibling {
  const folder = path.dirname(path.resolve(file));
  return name => {
    const siblingPath = path.join(folder, name);
    try {
      const { realPath, fault } = inspectNamedFile(
        siblingPath,
        allowOutside ? undefined : folder,
        BOUNDS.fileBytes,
      );
      if (fault !== undefined) {
        throw new InvalidPromptFileError(siblingPath, 1, UNREADABLE_FILE_MESSAGES[fault]);
      }
      return decodePrompt(siblingPath, readFileSync(realPath));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };
}

/**
 * Returns the path of a partial: `folder/name` is `folder/_name.prompt`. Undefined for a name that
 * leads elsewhere.
 */
function findPartialPath(directory: string, name: string): string | undefined {
  const segments = name.split('/');
  if (!segments.every(segment => PARTIAL_NAME_SEGMENT.test(segment))) return undefined;
  const file = `_${segments.pop() ?? ''}${PROMPT_FILE_EXTENSION}`;
  return path.join(directory, ...segments, file);
}

/** Returns the paths of the prompt files in a directory, sorted. */
export async function listFolderPromptFiles(directory: string): Promise<string[]> {
  const names = await readdir(directory);
  return names
    .filter(isPromptFileName)
    .sort()
    .map(name => path.join(directory, name));
}

export function isPromptFileName(name: string): boolean {
  return isPromptOrPartialName(name) && !isPartialFile(name);
}

/**
 * Returns true for prompts and partials. Names that begin with a dot are temporary files of
 * editors.
 */
export function isPromptOrPartialName(name: string): boolean {
  return name.endsWith(PROMPT_FILE_EXTENSION) && !name.startsWith('.');
}
