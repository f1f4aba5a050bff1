import path from 'node:path';
import { isUuid } from '../../wire/index.ts';
import { InvalidPromptFile } from './definition.ts';

export const PROMPT_FILE_EXTENSION = '.prompt';

const SLUG = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,99}$/u;

/** The slug of a prompt file: its name without `.prompt`. Throws InvalidPromptFile where that can't be one. */
export function slugOf(file: string): string {
  const name = path.basename(file);
  const slug = (
    name.endsWith(PROMPT_FILE_EXTENSION) ? name.slice(0, -PROMPT_FILE_EXTENSION.length) : name
  ).normalize('NFC');
  if (!SLUG.test(slug)) {
    throw new InvalidPromptFile(
      file,
      1,
      'the file’s name is the slug of the prompt: use letters, digits, `-`, `_` and `.`, at most 100, a letter or digit first',
    );
  }
  if (isUuid(slug)) {
    throw new InvalidPromptFile(file, 1, 'the file’s name looks like an identifier: rename it');
  }
  return slug;
}
