import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  stringify,
  visit,
  type YAMLMap,
} from 'yaml';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import { parseAnswerJson, pickExpected } from '../expectations/json-match.ts';

/** The new value of an expectation. */
export interface NewValue {
  readonly kind: 'equals' | 'json';
  readonly value: unknown;
}

/**
 * Returns the source with one expectation changed; undefined if the answer can't be written there.
 *
 * @param offset the offset of the expectation's key
 */
export function changeExpectation(
  source: string,
  offset: number,
  answer: string,
): { readonly source: string; readonly newValue: NewValue } | undefined {
  const document = parseDocument(source);
  const expectation = findExpectation(document, offset);
  if (expectation === undefined) return undefined;

  const { kind, place } = expectation;
  const newValue =
    kind === 'json' ? findNewJson(getNodeData(document, place.node), answer) : { value: answer };
  if (newValue === undefined) return undefined;

  const { value } = newValue;
  const changedSource = listValueChanges(document, place, value).reduceRight(applyChange, source);
  if (!changesOnlyValue(changedSource, { source, offset, value })) return undefined;
  return { source: changedSource, newValue: { kind, value } };
}

/** Returns the expected fields with the values that an answer has; undefined if it is not JSON. */
function findNewJson(expected: unknown, answer: string): { readonly value: unknown } | undefined {
  const json = parseAnswerJson(answer);
  return 'fault' in json ? undefined : { value: pickExpected(expected, json.value) };
}

/** The place of a value in a file. */
interface ValuePlace {
  /** The value's own key, if it has one. */
  readonly key: Node | undefined;
  readonly node: Node | null;
  /** True if the value is in braces or brackets. */
  readonly isInFlow: boolean;
}

/** Returns the `equals` or `json` whose key begins at an offset; undefined if none does. */
function findExpectation(
  document: Document,
  offset: number,
):
  | { readonly kind: NewValue['kind']; readonly pair: Pair; readonly place: ValuePlace }
  | undefined {
  let expectation: ReturnType<typeof findExpectation>;
  visit(document, {
    Map(_, map) {
      const pair = map.items.find(({ key }) => getNodeStart(key) === offset);
      if (pair === undefined) return undefined;
      const kind = isScalar(pair.key) ? pair.key.value : undefined;
      if (kind === 'equals' || kind === 'json') {
        expectation = { kind, pair, place: toValuePlace(pair, map) };
      }
      return visit.BREAK;
    },
  });
  return expectation;
}

function toValuePlace({ key, value }: Pair, { flow }: YAMLMap): ValuePlace {
  return { key: key as Node, node: value as Node | null, isInFlow: flow === true };
}

function getNodeStart(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? -1;
}

function getNodeData(document: Document, node: Node | null): unknown {
  return node?.toJS(document) ?? null;
}

/**
 * Returns true if the changed source has the value at that place and is unchanged everywhere else.
 */
function changesOnlyValue(
  changedSource: string,
  {
    source,
    offset,
    value,
  }: { readonly source: string; readonly offset: number; readonly value: unknown },
): boolean {
  const changedDocument = parseDocument(changedSource);
  const expectedDocument = parseDocument(source);
  const pair = findExpectation(expectedDocument, offset)?.pair;
  if (changedDocument.errors.length > 0 || pair === undefined) return false;
  pair.value = expectedDocument.createNode(value);
  return isSameJson(changedDocument.toJS(), expectedDocument.toJS());
}

function isSameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A value, and the place that it is written to. */
interface ValueChange extends ValuePlace {
  readonly value: unknown;
}

/**
 * Returns the changes that turn a value into another; in an object or list of the same size, only
 * the differing parts.
 */
function listValueChanges(document: Document, place: ValuePlace, value: unknown): ValueChange[] {
  const { node } = place;
  if (isSameJson(getNodeData(document, node), value)) return [];

  if (isMap(node) && isJsonObject(value) && node.items.length === Object.keys(value).length) {
    return node.items.flatMap(pair => {
      const name = isScalar(pair.key) ? String(pair.key.value) : '';
      return listValueChanges(document, toValuePlace(pair, node), value[name]);
    });
  }

  if (isSeq(node) && Array.isArray(value) && node.items.length === value.length) {
    return node.items.flatMap((item, index) => {
      const inner = { key: undefined, node: item as Node | null, isInFlow: node.flow === true };
      return listValueChanges(document, inner, value[index]);
    });
  }

  return [{ ...place, value }];
}

/** Returns the source with one change. */
function applyChange(source: string, change: ValueChange): string {
  const { key, node } = change;
  // A missing value is written after the key's colon.
  const afterKey = (key?.range?.[1] ?? 0) + 1;
  const [start, end] = node?.range ?? [afterKey, afterKey];

  // Text after a block scalar belongs to the file.
  const oldText = source.slice(start, end);
  const trailingText = oldText.slice(oldText.trimEnd().length);
  const separator = start === end && !/\s/u.test(source[start - 1] ?? '') ? ' ' : '';
  return (
    source.slice(0, start) +
    separator +
    formatYaml(source, change) +
    trailingText +
    source.slice(end)
  );
}

/** Matches a text without space at its ends, except one line break at the end. */
const TRIMMED_TEXT = /^\S.*[^\n]\n?$/su;

/** Number of spaces by which a block is indented below its key. */
const BLOCK_INDENT = 2;

/** Matches what a block would lose: control characters, and spaces at the end of a line. */
const CONTROL_OR_TRAILING_SPACE = /[^\P{C}\n]|[^\S\n]\n/u;

/** Formats a value for its place: several lines as a block if that reads back unchanged. */
function formatYaml(source: string, { key, value, isInFlow }: ValueChange): string {
  if (typeof value !== 'string') return JSON.stringify(value);

  if (!value.includes('\n')) {
    const scalar = stringify(value, { lineWidth: 0 }).trimEnd();
    return isInFlow && /[,[\]{}]/u.test(scalar) ? JSON.stringify(value) : scalar;
  }

  const canBeBlock = TRIMMED_TEXT.test(value) && !CONTROL_OR_TRAILING_SPACE.test(value);
  if (key === undefined || isInFlow || !canBeBlock) return JSON.stringify(value);
  return formatBlockScalar(source, key, value);
}

/** Formats lines as a block, indented below its key, with the line breaks of the file. */
function formatBlockScalar(source: string, key: Node, value: string): string {
  const column = getNodeStart(key) - (source.lastIndexOf('\n', getNodeStart(key)) + 1);
  const lines = value
    .replace(/\n$/u, '')
    .replaceAll(/^(?=.)/gmu, ' '.repeat(column + BLOCK_INDENT));
  const [lineBreak] = /\r?\n/u.exec(source.slice(getNodeStart(key))) ?? ['\n'];
  return `${value.endsWith('\n') ? '|' : '|-'}\n${lines}`.replaceAll('\n', lineBreak);
}
