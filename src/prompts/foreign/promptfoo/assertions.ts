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
import { PYTHON } from '../python.ts';
import { type Conversion, type KnownKeys, type Located, valuesByKey } from './conversion.ts';
import { PYTHON_CHECK } from './programs.ts';
import { readPromptfooProvider } from './providers.ts';
import { fillVars, splitNunjucks, type Vars } from './template.ts';

/** An assertion of a test, before variables are filled in. */
export interface Assertion {
  readonly at: Located;
  /** The type, such as `not-contains`. */
  readonly type: string;
  readonly value?: JsonValue | undefined;
  readonly threshold?: JsonValue | undefined;
  /** Code that transforms the answer before the check. */
  readonly transform?: string | undefined;
  /** The model that judges it. */
  readonly judge?: string | undefined;
  /** The value that code sees as `context.config`. */
  readonly config?: JsonValue | undefined;
}

const USES_THRESHOLD = /^(?:not-)?(?:latency|cost|javascript|python|llm-rubric)$/u;
const USES_CONFIG = /^(?:not-)?(?:javascript|python)$/u;
const KEYS: KnownKeys = {
  known: ['type', 'value', 'metric', 'description', 'transform'],
  unsupported: ['threshold', 'weight', 'provider', 'rubricPrompt', 'config', 'contextTransform', 'assert'],
};
/** The default weight. */
const NO_WEIGHT = 1;

/** Reads the assertions of a test; notes what has no equivalent. */
export function assertionsIn(node: YamlValue | undefined, conversion: Conversion): (Assertion | undefined)[] {
  if (!node || node.isEmpty) return [];
  const items = node.isList ? node.items('assert') : [node];
  return items.flatMap(item => {
    const { scalar } = item;
    if (scalar?.startsWith('file://')) return assertionsIn(conversion.yaml(scalar, item), conversion);
    return [readAssertion(item, conversion)];
  });
}

/** Reads an assertion; undefined if it is left out. */
function readAssertion(item: YamlValue, conversion: Conversion): Assertion | undefined {
  const before = conversion.leftOut;
  const entries = valuesByKey(item, 'an assertion');
  const type = entries.get('type')?.text('type');
  if (type === undefined) {
    conversion.note(item, 'an assertion without `type` has no equivalent');
    return undefined;
  }
  if (type === 'assert-set') {
    conversion.note(item, 'the assertion `assert-set` has no equivalent');
    return undefined;
  }
  if (!isKnownToUs(type)) {
    noteType(item, type, conversion);
    return undefined;
  }
  const isJudged = JUDGED_TYPE.test(type);
  const known = [
    ...KEYS.known,
    ...(USES_THRESHOLD.test(type) ? ['threshold'] : []),
    ...(isJudged ? ['provider'] : []),
    ...(USES_CONFIG.test(type) && conversion.isForTest ? ['config'] : []),
    ...(entries.get('weight')?.json() === NO_WEIGHT ? ['weight'] : []),
  ];
  // A key that promptfoo doesn't read for this type changes nothing.
  const read = [...known, ...(USES_CONFIG.test(type) ? ['config'] : [])];
  const unread = isConverted(type) ? UNREAD.filter(key => !read.includes(key)) : [];
  const unsupported = KEYS.unsupported.filter(key => !unread.includes(key));
  conversion.noteKeys(entries, { known, unsupported }, ' of an assertion');
  const judge = isJudged ? judgeIn(entries.get('provider'), conversion) : undefined;
  // A written test file keeps what could be converted.
  if (conversion.isForTest && conversion.leftOut > before) return undefined;
  return {
    at: item,
    type,
    value: entries.get('value')?.json(),
    threshold: entries.get('threshold')?.json(),
    transform: entries.get('transform')?.scalar?.trimEnd(),
    judge,
    config: conversion.isForTest ? entries.get('config')?.json() : undefined,
  };
}

/** Keys that promptfoo reads only for some types of assertions. */
const UNREAD = ['threshold', 'provider', 'config', 'contextTransform', 'rubricPrompt'];

/** Returns true if a type has an equivalent; a judge also reads `rubricPrompt`, which has none. */
function isConverted(type: string): boolean {
  return Object.hasOwn(CONVERSIONS, type.replace(/^not-/u, '')) && !JUDGED_TYPE.test(type);
}

const JUDGED_TYPE = /^(?:not-)?llm-rubric$/u;

/** Returns the model in the `provider` of an assertion or of options. */
export function judgeIn(node: YamlValue | undefined, conversion: Conversion): string | undefined {
  if (!node || node.isEmpty) return undefined;
  const entries = node.isMap ? valuesByKey(node, 'provider') : undefined;
  // A map has a provider per kind of question; texts are judged by the first.
  if (entries && !entries.has('id') && (entries.has('text') || entries.has('embedding'))) {
    return judgeIn(entries.get('text'), conversion);
  }
  const provider = readPromptfooProvider(node, conversion);
  if (provider) conversion.judges.push(provider);
  return provider?.model;
}

/** Matches the type at the beginning of a cell. */
const CELL = /^((?:not-)?[a-z]+(?:-[a-z]+)*)(?:\(([\d.]+)\))?(?::([^]*))?$/u;
const CELL_NAMES: Readonly<Record<string, string>> = {
  fn: 'javascript',
  eval: 'javascript',
  grade: 'llm-rubric',
};
const BARE = new Set(['is-json', 'contains-json', 'not-is-json', 'not-contains-json']);

/** Reads a cell of the column `__expected`: a type with its value, or else the whole answer. */
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

/** Matches imports, which a JavaScript file run by Node has. */
const IMPORTS = /\brequire[ \t]*\(|^[ \t]*import\b/mu;

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
  'is-json': value => bareJson(readJsonSchema(value)),
  'contains-json': value => {
    const schema = readJsonSchema(value);
    return { containsJson: schema === true ? { type: ['object', 'array'] } : schema };
  },
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

function isKnown(type: string): boolean {
  const positive = type.replace(/^not-/u, '');
  const others = [...PROGRAMS, ...WITHOUT_EQUIVALENT];
  return Object.hasOwn(CONVERSIONS, positive) || others.includes(positive);
}

/** Returns the expectations of an assertion, with variables filled in; undefined with a note if it has no equivalent. */
export function expectationsOf(
  assertion: Assertion,
  vars: Vars,
  prompt: string,
  conversion: Conversion,
): JsonObject[] | undefined {
  const { at, type, transform, judge, config } = assertion;
  const before = conversion.leftOut;
  const positive = type.replace(/^not-/u, '');
  if (conversion.isForTest && startsProgram(assertion, positive, conversion)) {
    if (conversion.noteProgram(at, `the assertion \`${type}\` runs a program`)) return undefined;
  }
  if (positive === 'python' && conversion.isForTest) {
    const command = pythonCommand(assertion, vars, prompt, conversion);
    return [{ command, ...(transform !== undefined && { transform }) }];
  }
  const convert = Object.hasOwn(CONVERSIONS, positive) ? CONVERSIONS[positive] : undefined;
  if (!convert) {
    noteType(at, type, conversion);
    return undefined;
  }
  const converted = convert(valueWithVars(assertion, vars, conversion), assertion.threshold);
  const seesConfig = positive === 'javascript' && config !== undefined;
  const expectation: JsonObject | undefined = converted && { ...converted, ...(seesConfig && { config }) };
  if (!expectation) {
    conversion.note(at, `the assertion \`${type}\` says nothing that can be checked`);
    return undefined;
  }
  if (conversion.isForTest && conversion.leftOut > before) return undefined;
  if (positive === 'llm-rubric' && judge === undefined) conversion.tell(at, JUDGED);
  const list = isJsonList(expectation['all']) ? (expectation['all'] as JsonObject[]) : [expectation];
  const beside = {
    ...(transform !== undefined && { transform }),
    ...(judge !== undefined && { judge }),
  };
  if (type === positive) return list.map(one => ({ ...one, ...beside }));
  const nots = list.map(one => (isJsonObject(one['not']) ? one['not'] : { not: one }));
  return nots.length === 1 ? nots.map(one => ({ ...one, ...beside })) : [{ any: nots, ...beside }];
}

/** Returns true if a type is carried out, or is a program, which may be. */
function isKnownToUs(type: string): boolean {
  const positive = type.replace(/^not-/u, '');
  return Object.hasOwn(CONVERSIONS, positive) || PROGRAMS.includes(positive);
}

function noteType(at: Located, type: string, conversion: Conversion): void {
  const isProgram = PROGRAMS.includes(type.replace(/^not-/u, ''));
  const way = isProgram ? ': an expectation `command` is the place for it' : '';
  conversion.note(at, `the assertion \`${type}\` has no equivalent${way}`);
}

/** Returns true if an assertion starts a program: `python`, or a JavaScript file with imports. */
function startsProgram({ at, value }: Assertion, type: string, conversion: Conversion): boolean {
  if (type === 'python') return true;
  const [, file] = /^file:\/\/(.*?\.[cm]?js)(?::\w+)?$/u.exec(textOrNothing(value)) ?? [];
  return type === 'javascript' && file !== undefined && IMPORTS.test(conversion.read(file, at).text);
}

/** Returns the program that checks an answer like `python`. It negates the verdict itself, because errors never pass. */
function pythonCommand(
  { at, type, value, threshold, config }: Assertion,
  vars: Vars,
  prompt: string,
  conversion: Conversion,
): string[] {
  const written = textOrNothing(value);
  const about = JSON.stringify({
    inverse: type.startsWith('not-'),
    ...(typeof threshold === 'number' && { threshold }),
    context: { vars, prompt, test: { vars }, ...(config !== undefined && { config }) },
  });
  const [, file, name = ''] = /^file:\/\/(.*?\.py)(?::([\w.]+))?$/u.exec(written) ?? [];
  if (file === undefined) {
    return [PYTHON, '-c', PYTHON_CHECK, 'code', fillVars(written, vars).trimEnd(), '', about];
  }
  conversion.read(file, at);
  return [PYTHON, '-c', PYTHON_CHECK, 'file', file, name, about];
}

function valueWithVars(
  { at, type, value }: Assertion,
  vars: Vars,
  conversion: Conversion,
): JsonValue | undefined {
  const isFile = typeof value === 'string' && value.startsWith('file://');
  if (isFile && /^(?:not-)?javascript$/u.test(type)) return value;
  if (isFile) {
    const isYaml = /\.(?:json|ya?ml)$/iu.test(value);
    return isYaml ? conversion.yaml(value, at).json() : conversion.read(value, at).text.trim();
  }
  const filled = (part: JsonValue): JsonValue => {
    if (typeof part === 'string') {
      if (part.startsWith('file://')) return conversion.read(part, at).text.trim();
      if (!splitNunjucks(part).isPlain) {
        conversion.note(at, 'Nunjucks other than `{{name}}` is left as it stands');
      }
      return fillVars(part, vars);
    }
    if (isJsonList(part)) return part.map(filled);
    return isJsonObject(part)
      ? Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, filled(inner)]))
      : part;
  };
  return value === undefined ? undefined : filled(value);
}

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
  return [...cells, cell].map(one => {
    const bare = one.trim();
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

/** Returns the schema from a map or its text; without one, any JSON matches. */
function readJsonSchema(value: JsonValue | undefined): JsonValue {
  if (typeof value !== 'string') return isJsonObject(value) ? value : true;
  const schema = parseJson(value);
  return isJsonObject(schema) ? schema : true;
}
