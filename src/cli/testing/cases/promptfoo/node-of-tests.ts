import { isJsonList } from '../../../../files/formats/json.ts';
import { mapOfNodes, nodeOfData, type YamlNode } from '../../../../files/formats/yaml-node.ts';
import type { ConvertedTests } from './read-promptfoo.ts';

/** Returns converted tests as if their test file had been parsed, with each case at its line in the configuration. */
export function nodeOfTests({ test, cases: places }: Pick<ConvertedTests, 'test' | 'cases'>): YamlNode {
  const { cases, ...common } = test;
  const items = isJsonList(cases)
    ? cases.map((item, index) => nodeOfData(item, places[index]?.line ?? 1))
    : [];
  const nodes = Object.entries(common).map(([key, value]) => [key, nodeOfData(value, 1)] as const);
  return mapOfNodes([...nodes, ['cases', { kind: 'list', items, line: 1, column: 1 }]], 1);
}
