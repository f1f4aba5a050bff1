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
const ANNOTATION_KEYWORDS: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$comment',
  'title',
  'description',
  'examples',
  'default',
]);

/** Keywords whose values are schemas or lists of schemas. */
const SUBSCHEMA_KEYWORDS: ReadonlySet<string> = new Set([
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
const NAMED_SUBSCHEMA_KEYWORDS: ReadonlySet<string> = new Set([
  'properties',
  '$defs',
  'definitions',
  'patternProperties',
  'dependentSchemas',
]);

/** The keywords of the same meaning by which clients replace others. */
const REPLACEMENT_KEYWORDS: Readonly<Record<string, string>> = {
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
  const droppedKeywords = new Set<string>();
  collectDroppedKeywords(schema, sentSchema, droppedKeywords);
  return [...droppedKeywords];
}

function collectDroppedKeywords(
  schema: unknown,
  sentSchema: unknown,
  droppedKeywords: Set<string>,
): void {
  if (Array.isArray(schema) && Array.isArray(sentSchema)) {
    for (const [index, subschema] of schema.entries()) {
      collectDroppedKeywords(subschema, sentSchema[index], droppedKeywords);
    }
  }
  if (!isJsonObject(schema) || !isJsonObject(sentSchema)) return;
  for (const [keyword, value] of Object.entries(schema)) {
    const sentValue = sentSchema[keyword] ?? sentSchema[REPLACEMENT_KEYWORDS[keyword] ?? ''];
    if (sentValue === undefined) {
      if (!ANNOTATION_KEYWORDS.has(keyword) && value !== undefined) droppedKeywords.add(keyword);
    } else if (keyword === 'additionalProperties' && value !== false && sentValue === false) {
      droppedKeywords.add(keyword);
    } else if (NAMED_SUBSCHEMA_KEYWORDS.has(keyword)) {
      collectDroppedKeywordsByName(value, sentValue, droppedKeywords);
    } else if (SUBSCHEMA_KEYWORDS.has(keyword)) {
      collectDroppedKeywords(value, sentValue, droppedKeywords);
    }
  }
}

function collectDroppedKeywordsByName(
  schemas: unknown,
  sentSchemas: unknown,
  droppedKeywords: Set<string>,
): void {
  if (!isJsonObject(schemas)) return;
  for (const [name, schema] of Object.entries(schemas)) {
    collectDroppedKeywords(schema, readValueAt(sentSchemas, name), droppedKeywords);
  }
}

/**
 * Returns a schema reduced to some keywords. Next to a `$ref`, keeps only those that begin with `$`.
 */
function pickKeywords(schema: unknown, keywords: ReadonlySet<string>): unknown {
  if (Array.isArray(schema)) return schema.map(subschema => pickKeywords(subschema, keywords));
  if (!isJsonObject(schema)) return schema;

  const isReference = schema['$ref'] !== undefined;
  const keptFields = Object.entries(schema).filter(
    ([keyword]) => keywords.has(keyword) && (!isReference || keyword.startsWith('$')),
  );

  return Object.fromEntries(
    keptFields.map(([keyword, value]) => {
      if (SUBSCHEMA_KEYWORDS.has(keyword)) return [keyword, pickKeywords(value, keywords)];
      if (!NAMED_SUBSCHEMA_KEYWORDS.has(keyword) || !isJsonObject(value)) return [keyword, value];
      const parts = Object.entries(value).map(([name, subschema]) => [
        name,
        pickKeywords(subschema, keywords),
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
  { interfaceName }: Pick<Provider, 'interfaceName'>,
): unknown {
  return interfaceName === 'google' || interfaceName === 'vertexai'
    ? pickKeywords(schema, GEMINI_KEYWORDS)
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
