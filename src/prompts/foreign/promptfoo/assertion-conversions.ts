import { isJsonList, type JsonObject, type JsonValue, textOrNothing } from '../../../files/json.ts';

/** Converts the value (of JSON, its schema) and the threshold of an assertion; undefined if it checks nothing. */
type Convert = (value: JsonValue | undefined, threshold: JsonValue | undefined) => JsonObject | undefined;

/** The types of assertions with an equivalent, without `not-`. */
export const CONVERSIONS: { readonly [type: string]: Convert } = {
  equals: value =>
    typeof value === 'object' && value !== null
      ? bareJson({ const: value })
      : { equals: textOrNothing(value) },
  contains: value => wordExpectation('contains', value),
  icontains: value => wordExpectation('icontains', value),
  'contains-any': value => listExpectation('any', 'contains', value),
  'contains-all': value => listExpectation('all', 'contains', value),
  'icontains-any': value => listExpectation('any', 'icontains', value),
  'icontains-all': value => listExpectation('all', 'icontains', value),
  'starts-with': value => ({ startsWith: textOrNothing(value) }),
  regex: value => ({ matches: withoutFlag(textOrNothing(value)) }),
  'is-json': (schema = true) => bareJson(schema),
  'contains-json': schema => ({ containsJson: schema ?? { type: ['object', 'array'] } }),
  latency: (_, threshold) => (typeof threshold === 'number' ? { seconds: threshold / 1000 } : undefined),
  cost: (_, threshold) => (typeof threshold === 'number' ? { cost: threshold } : undefined),
  'llm-rubric': (value, threshold) =>
    textOrNothing(value) === ''
      ? undefined
      : { rubric: textOrNothing(value), ...(typeof threshold === 'number' && { threshold }) },
  javascript: (value, threshold) => ({
    javascript: textOrNothing(value).trimEnd(),
    ...(typeof threshold === 'number' && { threshold }),
  }),
};

/** Replaces the `(?i)` of a pattern by both cases of each letter. */
function withoutFlag(pattern: string): string {
  if (!pattern.startsWith('(?i)')) return pattern;
  let isInClass = false;
  return pattern.slice('(?i)'.length).replaceAll(PATTERN_PARTS, part => {
    if (part === '[' || part === ']') isInClass = part === '[';
    if (!/^(?:[a-z]|[a-z]-[a-z])$/iu.test(part) || (part.length > 1 && !isInClass)) return part;
    const both = `${part.toLowerCase()}${part.toUpperCase()}`;
    return isInClass ? both : `[${both}]`;
  });
}

/** Matches escapes and groups, then ranges and letters. */
const PATTERN_PARTS =
  /\\(?:u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|[pk][{<][^}>]*[}>]|.)|\(\?<[a-z]\w*>|[[\]]|[a-z]-[a-z]|[a-z]/giu;

/** Returns the expectation of a word; undefined for an empty text, which every answer contains. */
function wordExpectation(kind: string, value: JsonValue | undefined): JsonObject | undefined {
  const text = textOrNothing(value);
  return text === '' ? undefined : { [kind]: text };
}

/** Returns texts from a list, or from a text with commas; quoted cells may contain commas. */
function listedTexts(value: JsonValue | undefined): string[] {
  if (isJsonList(value)) return value.map(textOrNothing);
  return cellsIn(textOrNothing(value)).filter(text => text !== '');
}

function cellsIn(text: string): string[] {
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
    const bare = text.trim();
    const isQuoted = bare.length > 1 && bare.startsWith('"') && bare.endsWith('"');
    return isQuoted ? bare.slice(1, -1).replaceAll('""', '"') : bare;
  });
}

function listExpectation(
  list: 'any' | 'all',
  kind: string,
  value: JsonValue | undefined,
): JsonObject | undefined {
  const expectations = listedTexts(value).map(text => ({ [kind]: text }));
  return expectations.length > 0 ? { [list]: expectations } : undefined;
}

/** Returns what expects JSON outside a code fence, in which promptfoo takes no JSON. */
function bareJson(schema: JsonValue): JsonObject {
  return { all: [{ schema }, { not: { matches: '^\\s*```' } }] };
}
