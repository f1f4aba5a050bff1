import { faultAt } from '../../../../files/formats/file-fault.ts';
import type { YamlValue } from '../../../../files/formats/yaml.ts';
import { readMergedValues } from '../files/merged-values.ts';

/** The parts of a provider in a configuration. */
interface ProviderParts {
  /** The id that chooses the provider. */
  readonly writtenId: string;
  /** The id that the provider has in tests and other references. */
  readonly id: string;
  readonly label: string | undefined;
  /** True unless its id is a key: `{openai:gpt-4o: {config: …}}`. */
  readonly isById: boolean;
  readonly entries: ReadonlyMap<string, YamlValue>;
}

function toProviderParts(id: string): ProviderParts {
  return { writtenId: id, id, label: undefined, isById: true, entries: new Map() };
}

export function readProviderParts(item: YamlValue): ProviderParts {
  const entries = readMergedValues(item, 'a provider');
  const [onlyEntry] = entries;
  const isById = entries.size !== 1 || !onlyEntry || onlyEntry[0] === 'id';
  const providerEntries = isById ? entries : readMergedValues(onlyEntry[1], onlyEntry[0]);
  const ownId = providerEntries.get('id')?.readText('id');
  const writtenId = isById ? ownId : onlyEntry[0];
  if (writtenId === undefined) throw faultAt(item, 'a provider needs `id`');

  providerEntries.delete('id');
  return {
    writtenId,
    id: ownId ?? writtenId,
    label: providerEntries.get('label')?.scalar,
    isById,
    entries: providerEntries,
  };
}

export function readWrittenParts(item: YamlValue): ReturnType<typeof readProviderParts> {
  return item.scalar === undefined ? readProviderParts(item) : toProviderParts(item.scalar);
}

/**
 * Matches providers that keep the id of the configuration. All others choose their own when
 * promptfoo loads them.
 */
export const KEEPS_ID =
  /^(?:openai|anthropic|azure(?:openai)?|google|vertex|ollama|openrouter|mistral|groq|bedrock|replicate|huggingface|deepseek|xai|github|exec|python):|^echo$/u;
