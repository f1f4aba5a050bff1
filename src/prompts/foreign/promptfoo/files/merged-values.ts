import type { YamlValue } from '../../../../files/formats/yaml.ts';

/** Maximum depth of merged maps. */
const MAX_MERGE_DEPTH = 10;

/**
 * Returns the values of a map by key, including those merged by `<<`.
 *
 * @param name the map in messages
 */
export function readMergedValues(node: YamlValue, name: string, depth = 0): Map<string, YamlValue> {
  const values = node.readValuesByKey(name);
  const mergeNode = values.get('<<');
  if (!mergeNode || depth > MAX_MERGE_DEPTH) return values;

  values.delete('<<');
  const maps = mergeNode.isList ? mergeNode.readItems(name) : [mergeNode];

  // If several maps have a key, the first of them counts.
  const mergedValues = maps
    .toReversed()
    .flatMap(map => [...readMergedValues(map, name, depth + 1)]);
  return new Map([...mergedValues, ...values]);
}
