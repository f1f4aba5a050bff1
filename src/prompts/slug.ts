import path from 'node:path';
import { isUuid } from '../wire/index.ts';

export const PROMPT_FILE_EXTENSION = '.prompt';

/** Matches a slug: a letter or digit, then up to 99 letters, digits, `.`, `_` and `-`. */
const SLUG = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,99}$/u;

/** Returns the slug of a prompt file: its name without `.prompt` or another known extension. */
export function getFileSlug(file: string): string {
  return path
    .basename(file)
    .replace(/\.prompt(?:\.ya?ml)?$|\.(?:ya?ml|md|markdown|txt)$/iu, '')
    .normalize('NFC');
}

/** Explains why a file's name can't be a slug; undefined if it can. */
export function findSlugFault(file: string): string | undefined {
  const slug = getFileSlug(file);
  if (!SLUG.test(slug)) {
    return "the file's name becomes the prompt's slug, so it may contain only letters, digits, `-`, `_` and `.`, at most 100, a letter or digit first: rename the file";
  }
  return isUuid(slug) ? "the file's name looks like an identifier: rename it" : undefined;
}

/** Returns true for a partial, `_name.prompt`, which is not a prompt itself. */
export function isPartialFile(file: string): boolean {
  const name = path.basename(file);
  return name.startsWith('_') && name.endsWith(PROMPT_FILE_EXTENSION);
}

/** Returns a valid slug for a file with any name. */
export function toValidSlug(file: string): string {
  const slug = getFileSlug(file)
    .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
    .replace(/^[^\p{L}\p{N}]+/u, '')
    .slice(0, 100);
  return slug === '' || isUuid(slug) ? 'prompt' : slug;
}
