import type { PromptVersion, PromptVersionEntry } from '../../wire/index.ts';
import type { Definitions } from '../prompts/definitions.ts';
import { promptConfig } from '../prompts/index.ts';
import type { StoredVersion } from '../store/prompts-store.ts';

/** A version with the inputs it expects (interface §2). */
export function versionView(version: StoredVersion, definitions: Definitions): PromptVersion {
  return {
    promptVersionId: version.id,
    promptId: version.promptId,
    title: version.title,
    publishedAt: new Date(version.publishedAt).toISOString(),
    config: promptConfig(definitions.of(version)),
  };
}

/** An entry of the list of versions, the first of which is the latest (interface §2). */
export function versionEntry(version: StoredVersion, index: number): PromptVersionEntry {
  const entry = { promptVersionId: version.id, publishedAt: new Date(version.publishedAt).toISOString() };
  return index === 0 ? { ...entry, isLatest: true } : entry;
}
