import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';

const MAX_PROMPT_FILES = 100;
const MAX_DIRECTORIES = 500;

/**
 * Returns the prompt files below a directory, by their paths from there, those nearest to it first.
 * Follows no links and enters no hidden directory. Stops at 100 files or 500 directories, because a
 * person waits for the list.
 */
export async function listPromptFiles(top: string): Promise<string[]> {
  const { isPromptFileName } = await import('../../prompts/parse/read-prompt-text.ts');
  const files: string[] = [];
  const directories = [''];
  for (let index = 0; index < directories.length && files.length < MAX_PROMPT_FILES; index += 1) {
    const directory = directories[index] ?? '';
    for (const entry of await listDirectory(path.join(top, directory))) {
      const name = path.join(directory, entry.name);
      if (entry.isFile() && isPromptFileName(entry.name)) files.push(name);
      const isEntered =
        entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.');
      if (isEntered && directories.length < MAX_DIRECTORIES) directories.push(name);
    }
  }

  return files.slice(0, MAX_PROMPT_FILES);
}

async function listDirectory(directory: string): Promise<Dirent[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  return entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
