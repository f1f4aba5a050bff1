import { FileFault } from '../../files/formats/file-fault.ts';
import { toYamlValue, type YamlValue } from '../../files/formats/yaml.ts';
import { parseYamlNode, type YamlNode, type YamlPair } from '../../files/formats/yaml-node.ts';

const MERGE_KEY = '<<';

/** Maximum number of entries that the merges of a file visit together. */
const MAX_MERGED_ENTRIES = 2_000_000;

/**
 * Parses YAML as libyaml and its ports in Go and Python do: `<<` merges maps, and a block of text
 * gains no line break if the file ends without one.
 *
 * @throws {FileFault} if it is not YAML
 */
export function parseLibyaml(text: string): YamlValue {
  const root = parseYamlNode(text, { keepsOpenEnd: true });
  new MapMerger().mergeIn(root);
  return toYamlValue(root);
}

/** Merges the maps at `<<` into the maps around them. */
class MapMerger {
  readonly #visited = new Set<YamlNode>();
  #visitedEntryCount = 0;

  /** Merges maps in a node and in everything below it. */
  mergeIn(node: YamlNode | null): void {
    if (node === null || node.kind === 'scalar' || this.#visited.has(node)) return;
    this.#visited.add(node);

    const children = node.kind === 'list' ? node.items : node.entries.map(({ value }) => value);
    for (const child of children) this.mergeIn(child);

    if (node.kind === 'map') this.#mergeEntries(node.entries);
  }

  /** Adds the entries of the maps at `<<`, unless there is one with their key. */
  #mergeEntries(entries: YamlPair[]): void {
    const mergeIndex = entries.findIndex(({ key }) => key === MERGE_KEY);
    const [merge] = mergeIndex < 0 ? [] : entries.splice(mergeIndex, 1);
    if (!merge) return;

    const { value, line = 1, column = 1 } = merge;
    const keys = new Set(entries.map(({ key }) => key));
    for (const map of value?.kind === 'list' ? value.items : [value]) {
      if (map?.kind !== 'map') {
        throw new FileFault(line, '`<<` must be a map or a list of maps', column);
      }
      for (const entry of map.entries) {
        this.#visitedEntryCount += 1;
        if (this.#visitedEntryCount > MAX_MERGED_ENTRIES) {
          throw new FileFault(line, 'this merges too many keys', column);
        }
        if (!keys.has(entry.key)) entries.push(entry);
        keys.add(entry.key);
      }
    }
  }
}
