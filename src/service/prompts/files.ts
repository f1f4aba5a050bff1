import { readFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from '../../files/error-utils.ts';
import { BOUNDS } from './bounds.ts';
import { InvalidPromptFile } from './definition.ts';
import { isPartialFile, PROMPT_FILE_EXTENSION } from './slug.ts';
import type { PartialLookup } from './template/syntax.ts';

/** The text of a prompt file. Throws InvalidPromptFile where it is not one. */
export async function readPromptText(file: string): Promise<string> {
  const found = await stat(file);
  if (!found.isFile()) throw new InvalidPromptFile(file, 1, 'this is not a file');
  if (found.size > BOUNDS.fileBytes) {
    throw new InvalidPromptFile(file, 1, `the file is larger than ${BOUNDS.fileBytes / 1024} KiB`);
  }
  const text = textOf(await readFile(file));
  if (text === undefined) throw new InvalidPromptFile(file, 1, 'the file is not UTF-8 text');
  return text;
}

/** The partials of a prompt file: `{{> name}}` is `_name.prompt` beside it. */
export function partialsBeside(file: string): PartialLookup {
  return name => {
    const found = partialPath(path.dirname(file), name);
    if (found === undefined) return undefined;
    try {
      const bytes = readFileSync(found);
      const text = bytes.length > BOUNDS.fileBytes ? undefined : textOf(bytes);
      if (text === undefined) {
        throw new InvalidPromptFile(
          found,
          1,
          `the partial is not UTF-8 text of at most ${BOUNDS.fileBytes / 1024} KiB`,
        );
      }
      return { file: found, text: text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n') };
    } catch (error) {
      if (['ENOENT', 'EISDIR', 'ENOTDIR'].includes(codeOf(error) ?? '')) return undefined;
      throw error;
    }
  };
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** `folder/name` is the file `folder/_name.prompt`. Undefined for a name that leads elsewhere. */
function partialPath(directory: string, name: string): string | undefined {
  const steps = name.split('/');
  if (steps.some(step => !/^[\p{L}\p{N}_-][\p{L}\p{M}\p{N}._-]*$/u.test(step))) return undefined;
  const file = `_${steps.pop() ?? ''}${PROMPT_FILE_EXTENSION}`;
  return path.join(directory, ...steps, file);
}

/** Paths of the prompt files in a directory, sorted. */
export async function promptFilesIn(directory: string): Promise<string[]> {
  const names = await readdir(directory);
  return names
    .filter(isPromptFile)
    .sort()
    .map(name => path.join(directory, name));
}

export function isPromptFile(name: string): boolean {
  return isPromptText(name) && !isPartialFile(name);
}

/** Prompts and partials; names that begin with a dot are what editors leave while they write. */
export function isPromptText(name: string): boolean {
  return name.endsWith(PROMPT_FILE_EXTENSION) && !name.startsWith('.');
}
