import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { toError } from '../thrown.ts';
import { InvalidPromptFile, type PromptDefinition } from './definition.ts';
import { parsePromptFile } from './parse.ts';
import { PROMPT_FILE_EXTENSION } from './slug.ts';

/** Far more than any prompt; something larger was not meant to be one. */
const MAX_BYTES = 1024 * 1024;

/** Reads one prompt file. Throws InvalidPromptFile for what is in it, and what the file system says. */
export async function readPromptFile(file: string): Promise<PromptDefinition> {
  return parsePromptFile(await readPromptText(file), file);
}

/** The text of a prompt file. Throws InvalidPromptFile where it is none. */
export async function readPromptText(file: string): Promise<string> {
  const found = await stat(file);
  if (!found.isFile()) throw new InvalidPromptFile(file, 1, 'this is no file');
  if (found.size > MAX_BYTES) throw new InvalidPromptFile(file, 1, 'the file is larger than 1 MiB');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof TypeError) throw new InvalidPromptFile(file, 1, 'the file is not UTF-8 text');
    throw error;
  }
}

export interface LoadedPrompts {
  readonly prompts: readonly PromptDefinition[];
  /** One for each file that can't be used. */
  readonly errors: readonly Error[];
}

/** Reads the prompt files of a directory, not of those below it, by name. Throws where there is no such directory. */
export async function loadPromptFiles(directory: string): Promise<LoadedPrompts> {
  const files = await promptFilesIn(directory);
  const read = await Promise.allSettled(files.map(readPromptFile));
  return {
    prompts: read.flatMap(result => (result.status === 'fulfilled' ? [result.value] : [])),
    errors: read.flatMap(result => (result.status === 'rejected' ? [toError(result.reason)] : [])),
  };
}

/** Paths of the prompt files in a directory, sorted. */
export async function promptFilesIn(directory: string): Promise<string[]> {
  const names = await readdir(directory);
  return names
    .filter(isPromptFile)
    .sort()
    .map(name => path.join(directory, name));
}

/** Names that begin with a dot are what editors leave while they write. */
export function isPromptFile(name: string): boolean {
  return name.endsWith(PROMPT_FILE_EXTENSION) && !name.startsWith('.');
}
