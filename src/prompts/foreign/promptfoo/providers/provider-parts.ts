import { faultAt } from '../../../../files/formats/file-fault.ts';
import type { YamlValue } from '../../../../files/formats/yaml.ts';
import { readMergedValues } from '../files/merged-values.ts';

/**
 * Matches the ids of providers that keep the id of the configuration. All others choose their own
 * when promptfoo loads them.
 */
export const PROVIDER_THAT_KEEPS_ID =
  /^(?:openai|anthropic|azure(?:openai)?|google|vertex|ollama|openrouter|mistral|groq|bedrock|replicate|huggingface|deepseek|xai|github|exec|python):|^echo$/u;

/** The parts of a provider in a configuration. */
interface ProviderParts {
  /** The id that chooses the provider. */
  readonly writtenId: string;
  /** The id that the provider has in tests and other references. */
  readonly id: string;
  readonly label: string | undefined;
  /** True if its id is a key: `{openai:gpt-4o: {config: …}}`. */
  readonly isKeyedById: boolean;
  readonly entries: ReadonlyMap<string, YamlValue>;
}

/** Reads a provider that is a map. @throws {FileFault} if it has no id */
export function readProviderParts(item: YamlValue): ProviderParts {
  const entries = readMergedValues(item, 'a provider');
  const [onlyEntry] = entries;
  const keyedEntry = entries.size === 1 && onlyEntry?.[0] !== 'id' ? onlyEntry : undefined;
  const isKeyedById = keyedEntry !== undefined;
  const providerEntries = keyedEntry ? readMergedValues(keyedEntry[1], keyedEntry[0]) : entries;
  const ownId = providerEntries.get('id')?.readText('id');
  const writtenId = keyedEntry?.[0] ?? ownId;
  if (writtenId === undefined) throw faultAt(item, 'a provider needs `id`');

  providerEntries.delete('id');
  return {
    writtenId,
    id: ownId ?? writtenId,
    label: providerEntries.get('label')?.scalar,
    isKeyedById,
    entries: providerEntries,
  };
}

/** Reads a provider that is a map, or only its id. @throws {FileFault} if it has no id */
export function readPartsOrId(item: YamlValue): ProviderParts {
  return item.scalar === undefined ? readProviderParts(item) : createPartsOfId(item.scalar);
}

function createPartsOfId(id: string): ProviderParts {
  return { writtenId: id, id, label: undefined, isKeyedById: false, entries: new Map() };
}
