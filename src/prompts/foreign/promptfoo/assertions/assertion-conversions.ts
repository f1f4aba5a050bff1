import { isJsonList, type JsonObject, type JsonValue } from '../../../../files/formats/json.ts';
import { toTextOrEmpty, toTextOrJson } from '../../../../files/formats/json-fields.ts';
import { getErrorMessage } from '../../../../utils/error-utils.ts';
import {
  buildMeasuredExpectation,
  explainInvalidValue,
  MEASURED_TYPES,
} from './measured-assertions.ts';

/** A type of assertion that has an equivalent. */
export interface AssertionConversion {
  /**
   * Returns the expectation for a value, which is a schema for JSON, and a threshold; undefined if
   * they check nothing.
   */
  readonly convert: (
    value: JsonValue | undefined,
    threshold: JsonValue | undefined,
  ) => JsonObject | undefined;
  /**
   * Explains why promptfoo fails every case with such an assertion, such as `needs a text`;
   * undefined if it checks the answer. Default: it always does.
   */
  readonly explainInvalidValue?: (
    value: JsonValue | undefined,
    threshold: JsonValue | undefined,
  ) => string | undefined;
}

/** An expectation that every answer meets. */
const ALWAYS_MATCHES: JsonObject = { matches: '^' };

/** An expectation that no answer meets. */
const NEVER_MATCHES: JsonObject = { matches: '(?!)' };

const NEEDS_TEXT_MESSAGE = 'needs a text that is not empty';

/** Matches the types whose value is a list of texts. */
const LIST_TYPE = /^i?contains-(?:any|all)$/u;

/**
 * Matches the parts of a pattern: escapes such as `\n`, `\u00e9`, `\x41` and `\p{L}`, the
 * beginnings of named groups such as `(?<year>`, brackets, ranges such as `a-z`, and single
 * letters.
 */
const PATTERN_PARTS =
  /\\(?:u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|[pk][{<][^}>]*[}>]|.)|\(\?<[a-z]\w*>|[[\]]|[a-z]-[a-z]|[a-z]/giu;

/** The conversions of assertions with an equivalent, by their type without `not-`. */
export const ASSERTION_CONVERSIONS: { readonly [type: string]: AssertionConversion } = {
  equals: {
    convert: value =>
      typeof value === 'object' && value !== null
        ? buildBareJsonExpectation({ const: value })
        : { equals: toTextOrJson(value ?? null) },
  },
  contains: {
    convert: value => buildWordExpectation('contains', value),
    explainInvalidValue: findWordFault,
  },
  icontains: {
    convert: value => buildWordExpectation('icontains', value),
    explainInvalidValue: findWordFault,
  },
  'contains-any': createListConversion('any', 'contains'),
  'contains-all': createListConversion('all', 'contains'),
  'icontains-any': createListConversion('any', 'icontains'),
  'icontains-all': createListConversion('all', 'icontains'),
  'starts-with': {
    convert: value => ({ startsWith: toTextOrEmpty(value) }),
    explainInvalidValue: value => (isFilledText(value) ? undefined : NEEDS_TEXT_MESSAGE),
  },
  regex: {
    convert: value => ({ matches: expandCaseFlag(toTextOrEmpty(value)) }),
    explainInvalidValue: value =>
      isFilledText(value) ? findAssertedPatternFault(value) : 'needs a pattern',
  },
  'is-json': { convert: (schema = true) => buildBareJsonExpectation(schema) },
  'contains-json': {
    convert: schema => ({ containsJson: schema ?? { type: ['object', 'array'] } }),
  },
  latency: {
    convert: (_, threshold) => {
      if (typeof threshold !== 'number') return undefined;
      return threshold > 0 ? { seconds: threshold / 1000 } : NEVER_MATCHES;
    },
    explainInvalidValue: findThresholdFault,
  },
  cost: {
    convert: (_, threshold) => {
      if (typeof threshold !== 'number') return undefined;
      return threshold >= 0 ? { cost: threshold } : NEVER_MATCHES;
    },
    explainInvalidValue: findThresholdFault,
  },
  'llm-rubric': {
    convert: (value, threshold) =>
      toTextOrEmpty(value) === ''
        ? undefined
        : { rubric: toTextOrEmpty(value), ...(typeof threshold === 'number' && { threshold }) },
  },
  javascript: {
    convert: (value, threshold) => ({
      javascript: toTextOrEmpty(value).trimEnd(),
      ...(typeof threshold === 'number' && { threshold: Math.max(0, threshold) }),
    }),
    explainInvalidValue: value => (isFilledText(value) ? undefined : 'needs code'),
  },
  ...Object.fromEntries(MEASURED_TYPES.map(type => [type, createMeasuredConversion(type)])),
};

/** Returns the conversion of a type without `not-`; undefined if it has no equivalent. */
export function findConversion(positiveType: string): AssertionConversion | undefined {
  return Object.hasOwn(ASSERTION_CONVERSIONS, positiveType)
    ? ASSERTION_CONVERSIONS[positiveType]
    : undefined;
}

function createListConversion(
  list: 'any' | 'all',
  check: 'contains' | 'icontains',
): AssertionConversion {
  return {
    convert: value => buildListExpectation(list, check, value),
    explainInvalidValue: value =>
      isFilledText(value) || isJsonList(value) ? undefined : 'needs a list of texts',
  };
}

function createMeasuredConversion(type: string): AssertionConversion {
  return {
    convert: (value, threshold) => buildMeasuredExpectation(type, value, threshold),
    explainInvalidValue: value => explainInvalidValue(type, value),
  };
}

function isFilledText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

function findWordFault(value: JsonValue | undefined): string | undefined {
  return isFilledText(value) || typeof value === 'number' ? undefined : NEEDS_TEXT_MESSAGE;
}

function findThresholdFault(
  _value: JsonValue | undefined,
  threshold: JsonValue | undefined,
): string | undefined {
  return typeof threshold === 'number' ? undefined : 'needs a `threshold`';
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

/** Returns an expectation that no answer meets, with the reason for the report. */
export function buildFailingExpectation(reason: string): JsonObject {
  return { javascript: `({ pass: false, score: 0, reason: ${JSON.stringify(reason)} })` };
}

/** Returns the expectation of an empty list of texts; undefined for a type without a list. */
export function findEmptyListExpectation(type: string): JsonObject | undefined {
  if (!LIST_TYPE.test(type)) return undefined;
  return type.endsWith('any') ? NEVER_MATCHES : ALWAYS_MATCHES;
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

    const bothCases = `${part.toLowerCase()}${part.toUpperCase()}`;
    return isInClass ? bothCases : `[${bothCases}]`;
  });
}

/** Returns the expectation of a word; undefined for an empty text, which every answer contains. */
function buildWordExpectation(check: string, value: JsonValue | undefined): JsonObject | undefined {
  const text = toTextOrEmpty(value);
  return text === '' ? undefined : { [check]: text };
}

/** Returns texts from a list, or from a text with commas; quoted cells may contain commas. */
function splitTexts(value: JsonValue | undefined): string[] {
  // promptfoo looks for an object as `[object Object]`.
  if (isJsonList(value)) return value.map(String);
  return splitCells(toTextOrEmpty(value)).filter(text => text !== '');
}

/** Splits a text at commas that are not in quotes. */
function splitCells(text: string): string[] {
  const cells: string[] = [];
  let cell = '';
  for (const part of text.split(',')) {
    cell += cell === '' ? part.trimStart() : `,${part}`;
    const isInQuotes = cell.startsWith('"') && (cell.match(/"/gu) ?? []).length % 2 === 1;
    if (isInQuotes) continue;

    cells.push(cell);
    cell = '';
  }

  return [...cells, cell].map(text => {
    const trimmedText = text.trim();
    const isQuoted =
      trimmedText.length > 1 && trimmedText.startsWith('"') && trimmedText.endsWith('"');
    return isQuoted ? trimmedText.slice(1, -1).replaceAll('""', '"') : trimmedText;
  });
}

function buildListExpectation(
  list: 'any' | 'all',
  check: string,
  value: JsonValue | undefined,
): JsonObject | undefined {
  const expectations = splitTexts(value).map(text =>
    text === '' ? ALWAYS_MATCHES : { [check]: text },
  );
  return expectations.length > 0 ? { [list]: expectations } : undefined;
}

/**
 * Returns an expectation of JSON outside a code fence, because promptfoo reads no JSON inside one.
 */
function buildBareJsonExpectation(schema: JsonValue): JsonObject {
  return { all: [{ schema }, { not: { matches: '^\\s*```' } }] };
}
