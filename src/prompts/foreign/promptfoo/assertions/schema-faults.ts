import { isJsonList, type JsonObject, type JsonValue } from '../../../../files/formats/json.ts';
import { toTextOrJson } from '../../../../files/formats/json-fields.ts';
import { isJsonObject } from '../../../../utils/bounded-json.ts';

/** Depth below which schemas are not checked. */
const MAX_SCHEMA_DEPTH = 100;

/** Matches the dialect that promptfoo knows. */
const DRAFT_7 = /^http:\/\/json-schema\.org\/(?:draft-07\/)?schema#?$/u;

/** Keywords with the values that draft 7 allows. */
type KeywordRule = readonly [keywords: readonly string[], isAllowed: (value: JsonValue) => boolean];

/** The rules of keywords whose values are schemas. */
const SCHEMA_RULES: readonly KeywordRule[] = [
  [['items'], value => isSchema(value) || isSchemaList(value)],
  [
    [
      'additionalItems',
      'additionalProperties',
      'propertyNames',
      'contains',
      'not',
      'if',
      'then',
      'else',
    ],
    isSchema,
  ],
  [['allOf', 'anyOf', 'oneOf'], isSchemaList],
];

/** The rules of all keywords whose values promptfoo checks. */
const VALUE_RULES: readonly KeywordRule[] = [
  ...SCHEMA_RULES,
  [['required'], value => isDistinctList(value) && value.every(isTextValue)],
  [['type'], value => isTextValue(value) || (isDistinctList(value) && value.length > 0)],
  [['enum'], value => isJsonList(value) && value.length > 0],
  [['pattern'], isRegularExpression],
  [['title', 'description', '$comment', 'format', '$ref', '$id'], isTextValue],
  [['multipleOf'], value => isNumber(value) && value > 0],
  [['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum'], isNumber],
  [
    ['maxLength', 'minLength', 'maxItems', 'minItems', 'maxProperties', 'minProperties'],
    isLengthLimit,
  ],
  [
    ['properties', 'patternProperties'],
    value => isJsonObject(value) && Object.values(value).every(isSchema),
  ],
  [['uniqueItems'], value => typeof value === 'boolean'],
];

const SCHEMA_MAP_KEYWORDS = new Set(['properties', 'patternProperties', 'dependencies']);
const SCHEMA_KEYWORDS = new Set(SCHEMA_RULES.flatMap(([keywords]) => keywords));

const SCHEMA_TYPES = new Set<JsonValue>([
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
  'null',
]);

/** The keywords that promptfoo knows, with or without a rule. */
const KNOWN_KEYWORDS = new Set([
  ...VALUE_RULES.flatMap(([keywords]) => keywords),
  '$schema',
  '$defs',
  '$vocabulary',
  '$async',
  'definitions',
  'dependencies',
  'nullable',
  'const',
  'default',
  'deprecated',
  'readOnly',
  'writeOnly',
  'examples',
  'contentMediaType',
  'contentEncoding',
  'contentSchema',
]);

/**
 * Explains why promptfoo can't use a JSON Schema, as a predicate; undefined if it can. promptfoo
 * knows only the keywords of draft 7.
 */
export function findSchemaFault(schema: JsonObject, depth = 0): string | undefined {
  if (depth > MAX_SCHEMA_DEPTH) return undefined;
  for (const [keyword, value] of Object.entries(schema)) {
    const fault =
      findSchemaKeywordFault(keyword, value) ??
      findFirstFault(listSubschemas(keyword, value), depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function findSchemaKeywordFault(keyword: string, value: JsonValue): string | undefined {
  if (!KNOWN_KEYWORDS.has(keyword)) {
    return `has the keyword \`${keyword}\` in its schema, which promptfoo doesn't know`;
  }

  if (keyword === '$schema' && !DRAFT_7.test(toTextOrJson(value))) {
    return `has a schema of the dialect ${toTextOrJson(value)}, which promptfoo doesn't know`;
  }

  const [, isAllowed] = VALUE_RULES.find(([keywords]) => keywords.includes(keyword)) ?? [];
  if (isAllowed?.(value) === false) {
    return `has a \`${keyword}\` in its schema that JSON Schema doesn't allow`;
  }

  return keyword === 'type' ? findUnknownTypeFault(value) : undefined;
}

function findUnknownTypeFault(value: JsonValue): string | undefined {
  const types: readonly JsonValue[] = isJsonList(value) ? value : [value];
  const unknownType = types.find(type => !SCHEMA_TYPES.has(type));
  return unknownType === undefined
    ? undefined
    : `has the type \`${toTextOrJson(unknownType)}\` in its schema, which doesn't exist`;
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
function listSubschemas(keyword: string, value: JsonValue): readonly JsonValue[] {
  if (SCHEMA_MAP_KEYWORDS.has(keyword)) return isJsonObject(value) ? Object.values(value) : [];
  if (!SCHEMA_KEYWORDS.has(keyword)) return [];
  return isJsonList(value) ? value : [value];
}

function isTextValue(value: JsonValue): value is string {
  return typeof value === 'string';
}

function isNumber(value: JsonValue): value is number {
  return typeof value === 'number';
}

/** Returns true for a whole number, 0 or more. */
function isLengthLimit(value: JsonValue): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isSchema(value: JsonValue): boolean {
  return typeof value === 'boolean' || isJsonObject(value);
}

function isSchemaList(value: JsonValue): boolean {
  return isJsonList(value) && value.length > 0 && value.every(isSchema);
}

function isDistinctList(value: JsonValue): value is readonly JsonValue[] {
  return isJsonList(value) && new Set(value).size === value.length;
}

function isRegularExpression(value: JsonValue): boolean {
  try {
    return isTextValue(value) && new RegExp(value, 'u').flags === 'u';
  } catch {
    return false;
  }
}
