import { isJsonList, type JsonObject, type JsonValue } from '../../../../files/formats/json.ts';
import { textOrJson } from '../../../../files/formats/json-fields.ts';
import { isJsonObject } from '../../../../utils/bounded-json.ts';

/** Explains why promptfoo can't use a JSON Schema, as a predicate; undefined if it can. It takes only keywords of draft 7. */
export function faultOfSchema(schema: JsonObject, depth = 0): string | undefined {
  if (depth > MAX_SCHEMA_DEPTH) return undefined;
  for (const [key, value] of Object.entries(schema)) {
    const fault = faultOfKeyword(key, value) ?? schemaFaultIn(subschemas(key, value), depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const MAX_SCHEMA_DEPTH = 100;

function faultOfKeyword(key: string, value: JsonValue): string | undefined {
  if (!KEYWORDS.has(key)) return `has the keyword \`${key}\` in its schema, which promptfoo doesn't know`;
  const isForeign =
    key === '$schema' && !/^http:\/\/json-schema\.org\/(?:draft-07\/)?schema#?$/u.test(textOrJson(value));
  if (isForeign) return `has a schema of the dialect ${textOrJson(value)}, which promptfoo doesn't know`;
  if (key !== 'type') return undefined;
  const unknown = (isJsonList(value) ? value : [value]).find(type => !SCHEMA_TYPES.has(type));
  return unknown === undefined
    ? undefined
    : `has the type \`${textOrJson(unknown)}\` in its schema, which doesn't exist`;
}

function schemaFaultIn(schemas: readonly JsonValue[], depth: number): string | undefined {
  for (const schema of schemas) {
    const fault = isJsonObject(schema) ? faultOfSchema(schema, depth) : undefined;
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Returns the schemas within a keyword's value. Definitions are read only if something refers to them. */
function subschemas(key: string, value: JsonValue): readonly JsonValue[] {
  if (OF_NAMES.has(key)) return isJsonObject(value) ? Object.values(value) : [];
  if (!OF_SCHEMAS.has(key)) return [];
  return isJsonList(value) ? value : [value];
}

const OF_NAMES = new Set(['properties', 'patternProperties', 'dependencies']);
const OF_SCHEMAS = new Set(
  'items additionalItems additionalProperties propertyNames contains not if then else allOf anyOf oneOf'.split(
    ' ',
  ),
);
const SCHEMA_TYPES = new Set<JsonValue>([
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
  'null',
]);
const KEYWORDS = new Set([
  ...OF_NAMES,
  ...OF_SCHEMAS,
  ...'$schema $id $defs $vocabulary $comment $ref $async definitions type nullable const enum format'.split(
    ' ',
  ),
  ...'maximum minimum exclusiveMaximum exclusiveMinimum multipleOf maxLength minLength pattern'.split(' '),
  ...'maxProperties minProperties required maxItems minItems uniqueItems title description default'.split(
    ' ',
  ),
  ...'deprecated readOnly writeOnly examples contentMediaType contentEncoding contentSchema'.split(' '),
]);
