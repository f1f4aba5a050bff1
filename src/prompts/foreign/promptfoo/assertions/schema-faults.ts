import { isJsonList, type JsonObject, type JsonValue } from '../../../../files/formats/json.ts';
import { toTextOrJson } from '../../../../files/formats/json-fields.ts';
import { isJsonObject } from '../../../../utils/bounded-json.ts';

/**
 * Explains why promptfoo can't use a JSON Schema, as a predicate; undefined if it can. It takes
 * only keywords of draft 7.
 */
export function findSchemaFault(schema: JsonObject, depth = 0): string | undefined {
  if (depth > MAX_SCHEMA_DEPTH) return undefined;
  for (const [key, value] of Object.entries(schema)) {
    const fault =
      findSchemaKeywordFault(key, value) ?? findFirstFault(listSubschemas(key, value), depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const MAX_SCHEMA_DEPTH = 100;

function findSchemaKeywordFault(key: string, value: JsonValue): string | undefined {
  if (!KEYWORDS.has(key)) {
    return `has the keyword \`${key}\` in its schema, which promptfoo doesn't know`;
  }

  const isOtherDialect =
    key === '$schema' &&
    !/^http:\/\/json-schema\.org\/(?:draft-07\/)?schema#?$/u.test(toTextOrJson(value));
  if (isOtherDialect) {
    return `has a schema of the dialect ${toTextOrJson(value)}, which promptfoo doesn't know`;
  }

  const isAllowed = VALUE_RULES.find(([keywords]) => keywords.split(' ').includes(key))?.[1];
  if (isAllowed?.(value) === false) {
    return `has a \`${key}\` in its schema that JSON Schema doesn't allow`;
  }

  if (key !== 'type') return undefined;

  const unknown = (isJsonList(value) ? value : [value]).find(type => !SCHEMA_TYPES.has(type));
  return unknown === undefined
    ? undefined
    : `has the type \`${toTextOrJson(unknown)}\` in its schema, which doesn't exist`;
}

function findFirstFault(schemas: readonly JsonValue[], depth: number): string | undefined {
  for (const schema of schemas) {
    const fault = isJsonObject(schema) ? findSchemaFault(schema, depth) : undefined;
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/**
 * Returns the schemas within a keyword's value. Definitions are read only if something refers to
 * them.
 */
function listSubschemas(key: string, value: JsonValue): readonly JsonValue[] {
  if (SCHEMA_MAP_KEYWORDS.has(key)) return isJsonObject(value) ? Object.values(value) : [];
  if (!SCHEMA_KEYWORDS.has(key)) return [];
  return isJsonList(value) ? value : [value];
}

const isText = (value: JsonValue): value is string => typeof value === 'string';
const isNumber = (value: JsonValue): boolean => typeof value === 'number';
const isSchema = (value: JsonValue): boolean => typeof value === 'boolean' || isJsonObject(value);

const isSchemaList = (value: JsonValue): boolean =>
  isJsonList(value) && value.length > 0 && value.every(isSchema);

const isDistinctList = (value: JsonValue): value is readonly JsonValue[] =>
  isJsonList(value) && new Set(value).size === value.length;

function isRegularExpression(value: JsonValue): boolean {
  try {
    return isText(value) && new RegExp(value, 'u').flags === 'u';
  } catch {
    return false;
  }
}

type KeywordRule = readonly [keywords: string, allows: (value: JsonValue) => boolean];

/** Keywords whose values are schemas, with the values that draft 7 allows. */
const SCHEMA_RULES: readonly KeywordRule[] = [
  ['items', value => isSchema(value) || isSchemaList(value)],
  ['additionalItems additionalProperties propertyNames contains not if then else', isSchema],
  ['allOf anyOf oneOf', isSchemaList],
];

const VALUE_RULES: readonly KeywordRule[] = [
  ...SCHEMA_RULES,
  ['required', value => isDistinctList(value) && value.every(isText)],
  ['type', value => isText(value) || (isDistinctList(value) && value.length > 0)],
  ['enum', value => isJsonList(value) && value.length > 0],
  ['pattern', isRegularExpression],
  ['title description $comment format $ref $id', isText],
  ['multipleOf', value => Number(value) > 0 && isNumber(value)],
  ['maximum minimum exclusiveMaximum exclusiveMinimum', isNumber],
  [
    'maxLength minLength maxItems minItems maxProperties minProperties',
    value => Number.isSafeInteger(value) && Number(value) >= 0,
  ],
  [
    'properties patternProperties',
    value => isJsonObject(value) && Object.values(value).every(isSchema),
  ],
  ['uniqueItems', value => typeof value === 'boolean'],
];

const SCHEMA_MAP_KEYWORDS = new Set(['properties', 'patternProperties', 'dependencies']);
const SCHEMA_KEYWORDS = new Set(SCHEMA_RULES.flatMap(([keywords]) => keywords.split(' ')));

const SCHEMA_TYPES = new Set<JsonValue>(
  'string number integer boolean object array null'.split(' '),
);

const KEYWORDS = new Set([
  ...VALUE_RULES.flatMap(([keywords]) => keywords.split(' ')),
  ...'$schema $defs $vocabulary $async definitions dependencies nullable const default deprecated readOnly'.split(
    ' ',
  ),
  ...'writeOnly examples contentMediaType contentEncoding contentSchema'.split(' '),
]);
