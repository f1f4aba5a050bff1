import { isJsonObject, readValueAt } from '../../../utils/bounded-json.ts';
import type { ModelEntry, Provider } from '../../model-entry.ts';

/** Paths of the answer's schema in the requests of all interfaces. */
const SCHEMA_PATHS: readonly (readonly (string | number)[])[] = [
  ['response_format', 'json_schema', 'schema'],
  ['text', 'format', 'schema'],
  ['output_config', 'format', 'schema'],
  ['generationConfig', 'responseJsonSchema'],
  ['tools', 0, 'input_schema'],
  ['toolConfig', 'tools', 0, 'toolSpec', 'inputSchema', 'json'],
];

/** Keywords that constrain nothing. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$comment',
  'title',
  'description',
  'examples',
  'default',
]);

/** Keywords whose values are schemas or lists of schemas. */
const SUBSCHEMAS: ReadonlySet<string> = new Set([
  'items',
  'prefixItems',
  'additionalProperties',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
]);

/** Keywords whose values are schemas by name. */
const NAMED_SUBSCHEMAS: ReadonlySet<string> = new Set([
  'properties',
  '$defs',
  'definitions',
  'patternProperties',
  'dependentSchemas',
]);

/** Keywords that clients replace by others of the same meaning. */
const REPLACED_BY: Readonly<Record<string, string>> = {
  const: 'enum',
  oneOf: 'anyOf',
  definitions: '$defs',
};

/**
 * Returns the keywords of a schema that are missing in a request's copy, each once; none if the
 * request has no copy.
 */
export function listDroppedKeywords(
  schema: unknown,
  body: Readonly<Record<string, unknown>>,
): string[] {
  const sentSchema = SCHEMA_PATHS.map(path => readValueAt(body, ...path)).find(isJsonObject);
  return sentSchema === undefined ? [] : listMissingKeywords(schema, sentSchema);
}

function listMissingKeywords(schema: unknown, sentSchema: unknown): string[] {
  const droppedNames = new Set<string>();
  collectDropped(schema, sentSchema, droppedNames);
  return [...droppedNames];
}

function collectDropped(schema: unknown, sentSchema: unknown, droppedNames: Set<string>): void {
  if (Array.isArray(schema) && Array.isArray(sentSchema)) {
    for (const [index, subschema] of schema.entries()) {
      collectDropped(subschema, sentSchema[index], droppedNames);
    }
  }
  if (!isJsonObject(schema) || !isJsonObject(sentSchema)) return;
  for (const [keyword, value] of Object.entries(schema)) {
    const sentValue = sentSchema[keyword] ?? sentSchema[REPLACED_BY[keyword] ?? ''];
    if (sentValue === undefined) {
      if (!ANNOTATIONS.has(keyword) && value !== undefined) droppedNames.add(keyword);
    } else if (keyword === 'additionalProperties' && value !== false && sentValue === false) {
      droppedNames.add(keyword);
    } else if (NAMED_SUBSCHEMAS.has(keyword)) {
      collectDroppedByName(value, sentValue, droppedNames);
    } else if (SUBSCHEMAS.has(keyword)) {
      collectDropped(value, sentValue, droppedNames);
    }
  }
}

function collectDroppedByName(schemas: unknown, sentSchemas: unknown, dropped: Set<string>): void {
  if (!isJsonObject(schemas)) return;
  for (const [name, schema] of Object.entries(schemas)) {
    collectDropped(schema, readValueAt(sentSchemas, name), dropped);
  }
}

/** Returns a schema with only those keywords; keeps nothing else next to a `$ref`. */
function withKeywords(schema: unknown, keywords: ReadonlySet<string>): unknown {
  if (Array.isArray(schema)) return schema.map(subschema => withKeywords(subschema, keywords));
  if (!isJsonObject(schema)) return schema;

  const isReference = schema['$ref'] !== undefined;
  const keptFields = Object.entries(schema).filter(
    ([keyword]) => keywords.has(keyword) && (!isReference || keyword.startsWith('$')),
  );

  return Object.fromEntries(
    keptFields.map(([keyword, value]) => {
      if (SUBSCHEMAS.has(keyword)) return [keyword, withKeywords(value, keywords)];
      if (!NAMED_SUBSCHEMAS.has(keyword) || !isJsonObject(value)) return [keyword, value];
      const parts = Object.entries(value).map(([name, subschema]) => [
        name,
        withKeywords(subschema, keywords),
      ]);
      return [keyword, Object.fromEntries(parts)];
    }),
  );
}

/**
 * Keywords in Google's documentation of `responseJsonSchema`, and `const`, which the client turns
 * into an `enum`.
 */
const GEMINI_KEYWORDS: ReadonlySet<string> = new Set([
  '$id',
  '$defs',
  '$ref',
  '$anchor',
  'type',
  'format',
  'title',
  'description',
  'enum',
  'const',
  'items',
  'prefixItems',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'anyOf',
  'oneOf',
  'properties',
  'additionalProperties',
  'required',
  'propertyOrdering',
]);

/** Returns a schema without the keywords that the models of an interface ignore silently. */
export function withoutIgnoredKeywords(
  schema: unknown,
  { engine }: Pick<Provider, 'engine'>,
): unknown {
  return engine === 'google' || engine === 'vertexai'
    ? withKeywords(schema, GEMINI_KEYWORDS)
    : schema;
}

/** Returns the keywords of a schema that a model is known to ignore, without building a request. */
export function listIgnoredKeywords(
  schema: unknown,
  { provider, responseFormat }: ModelEntry,
): string[] {
  if (!provider || (responseFormat !== undefined && responseFormat !== 'json_schema')) return [];
  return listMissingKeywords(schema, withoutIgnoredKeywords(schema, provider));
}
