import {
  isJsonList,
  type JsonObject,
  type JsonValue,
  parseJson,
  textOrNothing,
} from '../../../files/json.ts';
import type { YamlValue } from '../../../files/yaml.ts';
import { isJsonObject } from '../../../wire/bounded-json.ts';
import { JUDGED } from '../converted.ts';
import type { Conversion, Located } from './source.ts';
import { nunjucks, render, type Vars } from './template.ts';

/** What a test asserts, before variables are put in. */
export interface Assertion {
  readonly at: Located;
  /** Such as `not-contains`. */
  readonly type: string;
  readonly value?: JsonValue | undefined;
  readonly threshold?: JsonValue | undefined;
}

const USES_THRESHOLD = /^(?:not-)?(?:latency|cost|javascript)$/u;

/** The assertions of a test; what of them has no equivalent is noted. */
export function assertionsIn(node: YamlValue | undefined, conversion: Conversion): Assertion[] {
  if (!node || node.isEmpty) return [];
  return node.items('assert').flatMap(item => {
    const entries = item.valuesByKey('an assertion');
    const type = entries.get('type')?.text('type');
    if (type === undefined) {
      conversion.note(item, 'an assertion without `type` has no equivalent');
      return [];
    }
    const [value, threshold] = [entries.get('value')?.json(), entries.get('threshold')?.json()];
    const keys = USES_THRESHOLD.test(type) ? ['type', 'value', 'threshold'] : ['type', 'value'];
    conversion.noteUnknown(entries, [...keys, 'metric', 'description'], ' of an assertion');
    return [{ at: item, type, value, threshold }];
  });
}

/** The types that a cell may begin with, by names of their own too. */
const CELL = /^((?:not-)?[a-z]+(?:-[a-z]+)*)(?:\(([\d.]+)\))?(?::([^]*))?$/u;
const CELL_NAMES: Readonly<Record<string, string>> = {
  fn: 'javascript',
  eval: 'javascript',
  grade: 'llm-rubric',
};
const BARE = new Set(['is-json', 'contains-json', 'not-is-json', 'not-contains-json']);

/** What a cell of a column `__expected` asserts: a type with its value, or else the whole answer. */
export function assertionInCell(cell: string, at: Located): Assertion {
  const [, name = '', threshold, value] = CELL.exec(cell.trim()) ?? [];
  const type = CELL_NAMES[name] ?? name;
  const isType = isKnown(type) && (value !== undefined || threshold !== undefined || BARE.has(type));
  if (!isType) return { at, type: 'equals', value: cell };
  return {
    at,
    type,
    value: value?.trim() || undefined,
    threshold: threshold === undefined ? undefined : Number(threshold),
  };
}

type Convert = (value: JsonValue | undefined, threshold: JsonValue | undefined) => JsonObject | undefined;

const PROGRAMS = ['python', 'ruby'];
const WITHOUT_EQUIVALENT = [
  'similar',
  'factuality',
  'webhook',
  'model-graded-closedqa',
  'answer-relevance',
  'rouge-n',
  'levenshtein',
];

const CONVERSIONS: { readonly [type: string]: Convert } = {
  equals: value =>
    typeof value === 'object' && value !== null
      ? { schema: { const: value } }
      : { equals: textOrNothing(value) },
  contains: value => wordOf('contains', value),
  icontains: value => wordOf('icontains', value),
  'contains-any': value => listOf('any', 'contains', value),
  'contains-all': value => listOf('all', 'contains', value),
  'icontains-any': value => listOf('any', 'icontains', value),
  'icontains-all': value => listOf('all', 'icontains', value),
  'starts-with': value => ({ startsWith: textOrNothing(value) }),
  'ends-with': value => ({ endsWith: textOrNothing(value) }),
  regex: value => ({ matches: textOrNothing(value) }),
  'is-json': value => ({ schema: schemaOf(value) }),
  'contains-json': value => {
    const schema = schemaOf(value);
    return { containsJson: schema === true ? { type: ['object', 'array'] } : schema };
  },
  latency: (_, threshold) => (typeof threshold === 'number' ? { seconds: threshold / 1000 } : undefined),
  cost: (_, threshold) => (typeof threshold === 'number' ? { cost: threshold } : undefined),
  'llm-rubric': value => ({ rubric: textOrNothing(value) }),
  javascript: (value, threshold) => ({
    javascript: textOrNothing(value),
    ...(typeof threshold === 'number' && { threshold }),
  }),
};

function isKnown(type: string): boolean {
  const positive = type.replace(/^not-/u, '');
  const others = [...PROGRAMS, ...WITHOUT_EQUIVALENT];
  return Object.hasOwn(CONVERSIONS, positive) || others.includes(positive);
}

/** The expectations that an assertion is, with variables put in; none for one without an equivalent, which is noted. */
export function expectationsOf(assertion: Assertion, vars: Vars, conversion: Conversion): JsonObject[] {
  const { at, type } = assertion;
  const positive = type.replace(/^not-/u, '');
  const convert = Object.hasOwn(CONVERSIONS, positive) ? CONVERSIONS[positive] : undefined;
  if (!convert) {
    const way = PROGRAMS.includes(positive) ? ': an expectation `command` is the place for it' : '';
    conversion.note(at, `the assertion \`${type}\` has no equivalent${way}`);
    return [];
  }
  const expectation = convert(valueOf(assertion, vars, conversion), assertion.threshold);
  if (!expectation) {
    conversion.note(at, `the assertion \`${type}\` says nothing that can be checked`);
    return [];
  }
  if (positive === 'llm-rubric') conversion.tell(at, JUDGED);
  const list = isJsonList(expectation['all']) ? (expectation['all'] as JsonObject[]) : [expectation];
  if (type === positive) return list;
  return list.length === 1 ? list.map(not => ({ not })) : [{ any: list.map(not => ({ not })) }];
}

function valueOf({ at, type, value }: Assertion, vars: Vars, conversion: Conversion): JsonValue | undefined {
  const isFile = typeof value === 'string' && value.startsWith('file://');
  if (isFile && /^(?:not-)?javascript$/u.test(type)) return value;
  if (isFile) {
    const isYaml = /\.(?:json|ya?ml)$/iu.test(value);
    return isYaml ? conversion.yaml(value, at).json() : conversion.read(value, at).text.trim();
  }
  const filled = (part: JsonValue): JsonValue => {
    if (typeof part === 'string') {
      if (!nunjucks(part).isPlain) conversion.note(at, 'Nunjucks other than `{{name}}` is left as it stands');
      return render(part, vars);
    }
    if (isJsonList(part)) return part.map(filled);
    return isJsonObject(part)
      ? Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, filled(inner)]))
      : part;
  };
  return value === undefined ? undefined : filled(value);
}

/** None for an empty text, which every answer has. */
function wordOf(kind: string, value: JsonValue | undefined): JsonObject | undefined {
  const text = textOrNothing(value);
  return text === '' ? undefined : { [kind]: text };
}

/** A list, or a text with commas; a cell in quotes may have commas. */
function textsOf(value: JsonValue | undefined): string[] {
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
  return [...cells, cell].map(one => {
    const bare = one.trim();
    const isQuoted = bare.length > 1 && bare.startsWith('"') && bare.endsWith('"');
    return isQuoted ? bare.slice(1, -1).replaceAll('""', '"') : bare;
  });
}

function listOf(list: 'any' | 'all', kind: string, value: JsonValue | undefined): JsonObject | undefined {
  const expectations = textsOf(value).map(text => ({ [kind]: text }));
  return expectations.length > 0 ? { [list]: expectations } : undefined;
}

/** As a map, or as the text of one; without one any JSON will do. */
function schemaOf(value: JsonValue | undefined): JsonValue {
  if (typeof value !== 'string') return isJsonObject(value) ? value : true;
  const schema = parseJson(value);
  return isJsonObject(schema) ? schema : true;
}
