import { isJsonList, type JsonObject, type JsonValue } from '../../../../files/formats/json.ts';
import { toTextOrEmpty, toTextOrJson } from '../../../../files/formats/json-fields.ts';
import { getErrorMessage } from '../../../../utils/error-utils.ts';
import {
  buildMeasuredExpectation,
  findMeasuredFault,
  MEASURED_TYPES,
} from './measured-assertions.ts';

/** A conversion of an assertion's value (the schema of JSON) and threshold; undefined if they check nothing. */
export type ConvertValue = (
  value: JsonValue | undefined,
  threshold: JsonValue | undefined,
) => JsonObject | undefined;

/** The expectation of an empty word, which every answer contains. */
const ANYTHING: JsonObject = { matches: '^' };
const NEVER_MATCHES: JsonObject = { matches: '(?!)' };

const NEEDS_TEXT = 'needs a text that is not empty';
const LIST_TYPE = /^i?contains-(?:any|all)$/u;

/** Matches escapes and groups, then ranges and letters. */
const PATTERN_PARTS =
  /\\(?:u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|[pk][{<][^}>]*[}>]|.)|\(\?<[a-z]\w*>|[[\]]|[a-z]-[a-z]|[a-z]/giu;

/** The types of assertions with an equivalent, without `not-`. */
export const CONVERSIONS: { readonly [type: string]: ConvertValue } = {
  equals: value =>
    typeof value === 'object' && value !== null
      ? buildBareJsonExpectation({ const: value })
      : { equals: toTextOrJson(value ?? null) },
  contains: value => buildWordExpectation('contains', value),
  icontains: value => buildWordExpectation('icontains', value),
  'contains-any': value => buildListExpectation('any', 'contains', value),
  'contains-all': value => buildListExpectation('all', 'contains', value),
  'icontains-any': value => buildListExpectation('any', 'icontains', value),
  'icontains-all': value => buildListExpectation('all', 'icontains', value),
  'starts-with': value => ({ startsWith: toTextOrEmpty(value) }),
  regex: value => ({ matches: expandCaseFlag(toTextOrEmpty(value)) }),
  'is-json': (schema = true) => buildBareJsonExpectation(schema),
  'contains-json': schema => ({ containsJson: schema ?? { type: ['object', 'array'] } }),
  latency: (_, threshold) => {
    if (typeof threshold !== 'number') return undefined;
    return threshold > 0 ? { seconds: threshold / 1000 } : NEVER_MATCHES;
  },
  cost: (_, threshold) => {
    if (typeof threshold !== 'number') return undefined;
    return threshold >= 0 ? { cost: threshold } : NEVER_MATCHES;
  },
  'llm-rubric': (value, threshold) =>
    toTextOrEmpty(value) === ''
      ? undefined
      : { rubric: toTextOrEmpty(value), ...(typeof threshold === 'number' && { threshold }) },
  javascript: (value, threshold) => ({
    javascript: toTextOrEmpty(value).trimEnd(),
    ...(typeof threshold === 'number' && { threshold: Math.max(0, threshold) }),
  }),
  ...Object.fromEntries(
    MEASURED_TYPES.map((type): [string, ConvertValue] => [
      type,
      (value, threshold) => buildMeasuredExpectation(type, value, threshold),
    ]),
  ),
};

/**
 * Explains why promptfoo fails every case with an assertion, as a predicate; undefined if it checks
 * the answer.
 */
export function findAssertionFault(
  type: string,
  value: JsonValue | undefined,
  threshold: JsonValue | undefined,
): string | undefined {
  const isText = typeof value === 'string' && value !== '';

  switch (type) {
    case 'latency':
    case 'cost':
      return typeof threshold === 'number' ? undefined : 'needs a `threshold`';
    case 'javascript':
      return isText ? undefined : 'needs code';
    case 'regex':
      return isText ? findAssertedPatternFault(value) : 'needs a pattern';
    case 'contains':
    case 'icontains':
      return isText || typeof value === 'number' ? undefined : NEEDS_TEXT;
    case 'starts-with':
      return isText ? undefined : NEEDS_TEXT;
    default:
  }

  if (LIST_TYPE.test(type)) {
    return isText || isJsonList(value) ? undefined : 'needs a list of texts';
  }

  return findMeasuredFault(type, value);
}

function findAssertedPatternFault(pattern: string): string | undefined {
  try {
    // oxlint-disable-next-line require-unicode-regexp -- promptfoo compiles it without flags
    void new RegExp(pattern);
    return undefined;
  } catch (error) {
    return `has a pattern that is not one of JavaScript: ${getErrorMessage(error)}`;
  }
}

/** Returns an expectation that no answer meets. */
export function buildFailingExpectation(reason: string): JsonObject {
  return { javascript: `({ pass: false, score: 0, reason: ${JSON.stringify(reason)} })` };
}

/** Returns what promptfoo expects by a list without words; undefined for a type without a list. */
export function findEmptyListExpectation(type: string): JsonObject | undefined {
  if (!LIST_TYPE.test(type)) return undefined;
  return type.endsWith('any') ? NEVER_MATCHES : ANYTHING;
}

/** Replaces the flag `(?i)` of a pattern by both cases of each letter. */
function expandCaseFlag(pattern: string): string {
  if (!pattern.startsWith('(?i)')) return pattern;

  let isInClass = false;
  return pattern.slice('(?i)'.length).replaceAll(PATTERN_PARTS, part => {
    if (part === '[' || part === ']') isInClass = part === '[';

    const isLetter = /^[a-z]$/iu.test(part);
    const isRange = isInClass && /^[a-z]-[a-z]$/iu.test(part);
    if (!isLetter && !isRange) return part;

    const both = `${part.toLowerCase()}${part.toUpperCase()}`;
    return isInClass ? both : `[${both}]`;
  });
}

/** Returns the expectation of a word; undefined for an empty text, which every answer contains. */
function buildWordExpectation(kind: string, value: JsonValue | undefined): JsonObject | undefined {
  const text = toTextOrEmpty(value);
  return text === '' ? undefined : { [kind]: text };
}

/** Returns texts from a list, or from a text with commas; quoted cells may contain commas. */
function splitTexts(value: JsonValue | undefined): string[] {
  // promptfoo looks for an object as `[object Object]`.
  if (isJsonList(value)) return value.map(String);
  return splitCells(toTextOrEmpty(value)).filter(text => text !== '');
}

function splitCells(text: string): string[] {
  const cells: string[] = [];
  let cell = '';
  for (const part of text.split(',')) {
    cell += cell === '' ? part.trimStart() : `,${part}`;
    const isOpen = cell.startsWith('"') && (cell.match(/"/gu) ?? []).length % 2 === 1;
    if (isOpen) continue;

    cells.push(cell);
    cell = '';
  }

  return [...cells, cell].map(text => {
    const trimmed = text.trim();
    const isQuoted = trimmed.length > 1 && trimmed.startsWith('"') && trimmed.endsWith('"');
    return isQuoted ? trimmed.slice(1, -1).replaceAll('""', '"') : trimmed;
  });
}

function buildListExpectation(
  list: 'any' | 'all',
  kind: string,
  value: JsonValue | undefined,
): JsonObject | undefined {
  const expectations = splitTexts(value).map(text => (text === '' ? ANYTHING : { [kind]: text }));
  return expectations.length > 0 ? { [list]: expectations } : undefined;
}

/**
 * Returns an expectation of JSON outside a code fence, because promptfoo reads no JSON inside one.
 */
function buildBareJsonExpectation(schema: JsonValue): JsonObject {
  return { all: [{ schema }, { not: { matches: '^\\s*```' } }] };
}
