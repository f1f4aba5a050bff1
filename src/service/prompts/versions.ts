import { createHash } from 'node:crypto';
import type { JsonObject } from '../../files/formats/json.ts';
import { type PromptDefinition, serialiseDefinition } from '../../prompts/definition.ts';
import type { NewVersion } from '../store/prompts-store.ts';

/**
 * Returns the version to store for a definition. Its id depends on slug, content and default model.
 *
 * @param defaultModel the model if the definition names none
 */
export function toNewVersion(definition: PromptDefinition, defaultModel?: string): NewVersion {
  const { slug, title, description, source } = definition;
  const model = defaultModel ?? definition.model;
  const promptId = derivePromptId(slug);
  const id = deriveVersionId(promptId, definition, defaultModel);

  return {
    id,
    promptId,
    slug,
    title,
    description,
    model,
    source,
    parsed: serialiseDefinition(definition),
  };
}

/** Returns the id of the prompt whose versions are files of this name. */
export function derivePromptId(slug: string): string {
  return deriveUuid(`prompt\0${slug}`);
}

/** Returns the id of a version, which is the same for equal content, partials included. */
function deriveVersionId(
  promptId: string,
  { source, partials }: Pick<PromptDefinition, 'source' | 'partials'>,
  defaultModel: string | undefined,
): string {
  const partialTexts = Object.entries(partials).map(
    ([name, text]) => `\0partial\0${name}\0${text}`,
  );
  const model = defaultModel === undefined ? [] : [`\0model\0${defaultModel}`];
  return deriveUuid([`${promptId}\0${source}`, ...partialTexts, ...model].join(''));
}

/**
 * Returns the id of an unpublished version, which differs from that of the published version with
 * equal content.
 */
export function deriveUnlistedVersionId(
  promptVersionId: string,
  model: string,
  config?: JsonObject,
): string {
  const configText = config === undefined ? '' : `\0config\0${JSON.stringify(config)}`;
  return deriveUuid(`unlisted\0${promptVersionId}\0${model}${configText}`);
}

/** Returns a name-based UUID of a text. */
function deriveUuid(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  // The version (5, by name) and the variant of RFC 9562.
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
