import { createHash } from 'node:crypto';
import type { Store } from '../store/store.ts';
import type { PromptDefinition } from './definition.ts';
import { parsePromptFile } from './parse.ts';

/** Prompt versions, parsed; they never change, so those that were read stay in memory. */
export interface Definitions {
  of(version: { id: string; slug: string; model: string; source: string }): PromptDefinition;
  /** The version of a run, published or not. */
  ofRun(promptVersionId: string): Promise<PromptDefinition>;
}

const MOST_HELD = 500;

export function createDefinitions(store: Store): Definitions {
  const held = new Map<string, PromptDefinition>();
  const of: Definitions['of'] = ({ id, slug, model, source }) => {
    const known = held.get(id);
    if (known) return known;
    // An unlisted version may be run with another model than its file names.
    const parsed = { ...parsePromptFile(source, `${slug}.prompt`), model };
    if (held.size >= MOST_HELD) held.clear();
    held.set(id, parsed);
    return parsed;
  };
  return {
    of,
    async ofRun(promptVersionId) {
      const known = held.get(promptVersionId);
      if (known) return known;
      const version = await store.prompts.versionOfRun(promptVersionId);
      if (!version) throw new Error(`prompt version ${promptVersionId} is not in the store`);
      return of(version);
    },
  };
}

/** The prompt that files of this name are versions of. */
export function promptIdOf(slug: string): string {
  return uuidFrom(`prompt\0${slug}`);
}

/** The same content is the same version. */
export function promptVersionIdOf(promptId: string, source: string): string {
  return uuidFrom(`${promptId}\0${source}`);
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
