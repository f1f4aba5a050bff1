import { readFile } from 'node:fs/promises';
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  stringify,
  type YAMLMap,
} from 'yaml';
import { replaceFile } from '../../../files/write-file.ts';
import { isObject } from '../../core/json-value.ts';
import { textOfOutputs } from '../../outputs/output-schema.ts';
import { checkExpectation, type ExpectationTools, type Mismatch } from '../expectations/expectation.ts';
import { jsonOf, onlyExpected } from '../expectations/json-match.ts';
import { expectationOf, KINDS } from '../expectations/kinds.ts';
import { type EntryResult, type Repetition, resultOf } from '../result.ts';

/** What updating a file came to. */
interface Updated {
  /** The results, judged by what the file expects now. */
  readonly results: EntryResult[];
  /** How many expectations were written. */
  readonly written: number;
}

/**
 * Writes what came as what is expected, for every `equals` and `json` that stands directly under an `expect` and whose
 * case failed; nothing else of the file changes. Of a case with several models or repetitions the first answer that did
 * not match is taken, and the others are judged by it.
 */
export async function updateTestFile(file: string, results: readonly EntryResult[]): Promise<Updated> {
  const before = await readFile(file, 'utf8');
  let source = before;
  const expected = new Map<number, Expected>();
  // From the end, so that the places before a change stay what they were.
  for (const [at, text] of answersByPlace(results)) {
    const change = changeAt(before, source, at, text);
    if (change === undefined) continue;
    source = change.source;
    expected.set(at, change.expected);
  }
  if (source !== before) await replaceFile(file, source);
  const judged = await Promise.all(results.map(result => judgedAgain(result, expected)));
  return { results: judged, written: expected.size };
}

/** The first answer that did not meet each expectation, by its place, the last place first. */
function answersByPlace(results: readonly EntryResult[]): [number, string][] {
  const answers = new Map<number, string>();
  for (const { status, repetitions, entry } of results) {
    for (const { run, mismatches } of status === 'passed' ? [] : repetitions) {
      const text = textOfOutputs(run?.outputs ?? []);
      for (const { at } of run?.runStatus === 'failed' ? [] : mismatches) {
        if (!answers.has(at)) answers.set(at, entry.testCase.trims === true ? text.trim() : text);
      }
    }
  }
  return [...answers].toSorted(([one], [other]) => other - one);
}

/** What a file expects at a place from now on. */
type Expected =
  | { readonly kind: 'equals'; readonly text: string }
  | { readonly kind: 'json'; readonly value: unknown };

/** The source with one expectation changed; undefined if what came can't be written there. */
function changeAt(
  before: string,
  source: string,
  at: number,
  text: string,
): { source: string; expected: Expected } | undefined {
  const document = parseDocument(before);
  const field = updatableFields(document).find(({ pair }) => startOf(pair.key) === at);
  const kind = isScalar(field?.pair.key) ? field.pair.key.value : undefined;
  if (field === undefined || (kind !== 'equals' && kind !== 'json')) return undefined;
  const { pair } = field;
  const json = kind === 'json' ? jsonOf(text) : undefined;
  if (kind === 'json' && json === undefined) return undefined;
  const former: unknown = (pair.value as Node | null)?.toJS(document) ?? null;
  const value = json === undefined ? text : onlyExpected(former, json.value);
  const changed = rewritten(source, document, field, value);
  if (!reads(changed, source, at, value)) return undefined;
  return {
    source: changed,
    expected: json === undefined ? { kind: 'equals', text } : { kind: 'json', value },
  };
}

/** A pair of a map. */
interface Field {
  readonly pair: Pair;
  /** Whether the map is written in braces. */
  readonly isInFlow: boolean;
}

/** Every pair that stands directly under an `expect`. */
function updatableFields(document: Document.Parsed): Field[] {
  const cases = document.get('cases');
  const expected = isSeq(cases)
    ? cases.items.map(item => (isMap(item) ? item.get('expect') : undefined))
    : [];
  return expected
    .flatMap(expect => (isSeq(expect) ? expect.items : [expect]))
    .flatMap(item => (isMap(item) ? fieldsOf(item) : []));
}

function fieldsOf({ items, flow }: YAMLMap): Field[] {
  return items.map(pair => ({ pair, isInFlow: flow === true }));
}

function startOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}

/** Whether the changed source has the value at that place, and the same as before everywhere else. */
function reads(changed: string, source: string, at: number, value: unknown): boolean {
  const [now, then] = [parseDocument(changed), parseDocument(source)];
  if (now.errors.length > 0) return false;
  const find = (document: Document.Parsed): Pair | undefined =>
    updatableFields(document).find(({ pair }) => startOf(pair.key) === at)?.pair;
  const [pair, former] = [find(now), find(then)];
  if (pair === undefined || former === undefined) return false;
  if (!same((pair.value as Node | null)?.toJS(now) ?? null, value)) return false;
  former.value = then.createNode(value);
  return same(now.toJS(), then.toJS());
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The source with the value of a field written anew: of an object only what differs. */
function rewritten(
  source: string,
  document: Document.Parsed,
  { pair: { key, value: node }, isInFlow }: Field,
  value: unknown,
): string {
  const change = { key: key as Node, node: node as Node | null, value, isInFlow };
  const changes = innerChanges(document, node, value) ?? [change];
  return changes.reduceRight(replaced, source);
}

interface Change {
  /** The key of the value, if it has one of its own. */
  readonly key: Node | undefined;
  readonly node: Node | null;
  readonly value: unknown;
  /** Whether it stands in braces or brackets. */
  readonly isInFlow: boolean;
}

/** What of an object or a list is to be written, in its order; undefined if the whole must be. */
function innerChanges(document: Document.Parsed, node: unknown, value: unknown): Change[] | undefined {
  if (isMap(node) && isObject(value) && node.items.length === Object.keys(value).length) {
    return fieldsOf(node).flatMap(({ pair: { key, value: own }, isInFlow }) => {
      const name = isScalar(key) ? String(key.value) : '';
      return changesOf(document, {
        key: key as Node,
        node: own as Node | null,
        value: value[name],
        isInFlow,
      });
    });
  }
  if (isSeq(node) && Array.isArray(value) && node.items.length === value.length) {
    return node.items.flatMap((item, at) =>
      changesOf(document, {
        key: undefined,
        node: item as Node | null,
        value: value[at] as unknown,
        isInFlow: node.flow === true,
      }),
    );
  }
  return undefined;
}

function changesOf(document: Document.Parsed, change: Change): Change[] {
  const { node, value } = change;
  if (same(node?.toJS(document) ?? null, value)) return [];
  return innerChanges(document, node, value) ?? [change];
}

function replaced(source: string, change: Change): string {
  const { key, node } = change;
  const afterKey = (key?.range?.[1] ?? 0) + 1;
  const [start, end] = node?.range ?? [afterKey, afterKey];
  // What follows a block scalar belongs to the file.
  const former = source.slice(start, end);
  const rest = former.slice(former.trimEnd().length);
  const gap = start === end && !/\s/u.test(source[start - 1] ?? '') ? ' ' : '';
  return source.slice(0, start) + gap + written(source, change) + rest + source.slice(end);
}

/** A value as it can stand in its place: several lines as a block where they read back as they are. */
function written(source: string, { key, value, isInFlow }: Change): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (!value.includes('\n')) {
    const scalar = stringify(value, { lineWidth: 0 }).trimEnd();
    return isInFlow && /[,[\]{}]/u.test(scalar) ? JSON.stringify(value) : scalar;
  }
  const isPlain = /^\S.*[^\n]\n?$/su.test(value) && !/[^\P{C}\n]|[^\S\n]\n/u.test(value);
  if (key === undefined || isInFlow || !isPlain) return JSON.stringify(value);
  const column = startOf(key) - (source.lastIndexOf('\n', startOf(key)) + 1);
  const indent = ' '.repeat(column + 2);
  const lines = value.replace(/\n$/u, '').split('\n');
  return [value.endsWith('\n') ? '|' : '|-', ...lines.map(line => (line === '' ? '' : indent + line))].join(
    '\n',
  );
}

/** Checks the answers by what the file expects now. */
async function judgedAgain(
  { entry, repetitions }: EntryResult,
  expected: ReadonlyMap<number, Expected>,
): Promise<EntryResult> {
  const judge = async (repetition: Repetition): Promise<Repetition> => {
    const mismatches: Mismatch[] = [];
    for (const mismatch of repetition.mismatches) {
      const now = expected.get(mismatch.at);
      const left =
        now === undefined ? mismatch : await stillUnmet(mismatch, now, repetition, entry.testCase.trims);
      if (left !== undefined) mismatches.push(left);
    }
    return { ...repetition, mismatches };
  };
  return resultOf(entry, await Promise.all(repetitions.map(judge)));
}

function stillUnmet(
  { line, at }: Mismatch,
  expected: Expected,
  { run, seconds }: Repetition,
  trims = false,
): Promise<Mismatch | undefined> {
  const text = textOfOutputs(run?.outputs ?? []);
  const answer = { text: trims ? text.trim() : text, seconds, tokens: 0, dollars: async () => undefined };
  const { kind } = expected;
  const parts = kind === 'json' ? KINDS.json.of(expected.value) : KINDS.equals.of(expected.text);
  return checkExpectation(expectationOf(kind, parts, { line, at }), answer, NO_TOOLS);
}

/** `equals` and `json` need none. */
const NO_TOOLS = { values: new Map() } as unknown as ExpectationTools;
