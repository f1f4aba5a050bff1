import { createHash } from 'node:crypto';
import type { PromptDefinition } from './definition.ts';

/** The prompt that files of this name are versions of. */
export function promptIdOf(slug: string): string {
  return uuidFrom(`prompt\0${slug}`);
}

/** The same content is the same version; the partials a prompt uses are part of it. */
export function promptVersionIdOf(
  promptId: string,
  { source, partials }: Pick<PromptDefinition, 'source' | 'partials'>,
): string {
  const used = Object.entries(partials).map(([name, text]) => `\0partial\0${name}\0${text}`);
  return uuidFrom([`${promptId}\0${source}`, ...used].join(''));
}

/** What is not published has ids of its own: publishing the same content later changes nothing about it. */
export function unlistedVersionIdOf(promptVersionId: string, model: string): string {
  return uuidFrom(`unlisted\0${promptVersionId}\0${model}`);
}

/** A name-based UUID of a text. */
function uuidFrom(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
