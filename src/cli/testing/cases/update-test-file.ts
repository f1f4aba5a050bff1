import { readFile, writeFile } from 'node:fs/promises';
import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, type Pair, parseDocument } from 'yaml';
import { textOfOutputs } from '../../outputs/output-schema.ts';
import { jsonOf, onlyExpected } from '../expectations/json-match.ts';
import type { EntryResult } from '../result.ts';

/**
 * Writes what came as what is expected, for `equals` and `json`; comments and everything else stay. Of a case with
 * several models or repetitions the first answer that did not match is taken.
 *
 * @returns the lines of the expectations that were written, as they were before
 */
export async function updateTestFile(
  file: string,
  results: readonly EntryResult[],
): Promise<ReadonlySet<number>> {
  const lines = new LineCounter();
  const document = parseDocument(await readFile(file, 'utf8'), { lineCounter: lines });
  const pairs = updatablePairs(document, lines);
  const updated = new Set<number>();
  for (const { run, mismatches } of results.flatMap(({ repetitions }) => repetitions)) {
    for (const { line } of run === undefined ? [] : mismatches) {
      const pair = pairs.get(line);
      if (
        pair !== undefined &&
        !updated.has(line) &&
        update(document, pair, textOfOutputs(run?.outputs ?? []))
      ) {
        updated.add(line);
      }
    }
  }
  if (updated.size > 0) {
    await writeFile(file, document.toString({ lineWidth: 0 }));
  }
  return updated;
}

/** Every `equals` and `json` that stands directly under an `expect`, by its line. */
function updatablePairs(document: Document.Parsed, lines: LineCounter): Map<number, Pair> {
  const cases = document.get('cases');
  const expected = isSeq(cases)
    ? cases.items.map(item => (isMap(item) ? item.get('expect') : undefined))
    : [];
  const maps = expected.flatMap(expect => (isSeq(expect) ? expect.items : [expect]));
  const pairs = new Map<number, Pair>();
  for (const pair of maps.flatMap(item => (isMap(item) ? item.items : []))) {
    const { key } = pair;
    if (isScalar(key) && (key.value === 'equals' || key.value === 'json')) {
      pairs.set(lines.linePos(key.range?.[0] ?? 0).line, pair);
    }
  }
  return pairs;
}

/** False where what came can't be written so: it is not JSON. */
function update(document: Document.Parsed, pair: Pair, text: string): boolean {
  if (isScalar(pair.key) && pair.key.value === 'equals') {
    pair.value = document.createNode(text);
    return true;
  }
  const json = jsonOf(text);
  if (json === undefined) {
    return false;
  }
  const expected: unknown = isNode(pair.value) ? pair.value.toJS(document) : pair.value;
  pair.value = document.createNode(onlyExpected(expected, json.value));
  return true;
}
