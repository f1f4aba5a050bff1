import { isJsonObject, valueAt } from '../../wire/bounded-json.ts';

/** Where the requests of all interfaces hold the schema of an answer. */
const PLACES: readonly (readonly (string | number)[])[] = [
  ['response_format', 'json_schema', 'schema'],
  ['text', 'format', 'schema'],
  ['output_config', 'format', 'schema'],
  ['generationConfig', 'responseJsonSchema'],
  ['tools', 0, 'input_schema'],
  ['toolConfig', 'tools', 0, 'toolSpec', 'inputSchema', 'json'],
];

/** Keywords that hold no answer to anything. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$comment',
  'title',
  'description',
  'examples',
  'default',
]);

/** Keywords that clients write in another way, with the same meaning. */
const WRITTEN_AS: Readonly<Record<string, string>> = { const: 'enum', oneOf: 'anyOf', definitions: '$defs' };

/** Returns the keywords of a schema that are not in what a request says of it, each once; none if it has no schema. */
export function droppedKeywords(schema: unknown, body: Readonly<Record<string, unknown>>): string[] {
  const sent = PLACES.map(place => valueAt(body, ...place)).find(isJsonObject);
  if (sent === undefined) return [];
  const dropped = new Set<string>();
  compare(schema, sent, dropped);
  return [...dropped];
}

function compare(schema: unknown, sent: unknown, dropped: Set<string>): void {
  if (Array.isArray(schema) && Array.isArray(sent)) {
    for (const [at, part] of schema.entries()) compare(part, sent[at], dropped);
  }
  if (!isJsonObject(schema) || !isJsonObject(sent)) return;
  for (const [keyword, value] of Object.entries(schema)) {
    const written = sent[keyword] ?? sent[WRITTEN_AS[keyword] ?? ''];
    if (written === undefined) {
      if (!ANNOTATIONS.has(keyword) && value !== undefined) dropped.add(keyword);
    } else if (NAMED.has(keyword)) {
      compareNamed(value, written, dropped);
    } else if (PARTS.has(keyword)) {
      compare(value, written, dropped);
    }
  }
}

/** Keywords whose values are schemas, or lists of them; and those that hold schemas by name. */
const PARTS: ReadonlySet<string> = new Set([
  'items',
  'prefixItems',
  'additionalProperties',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
]);
const NAMED: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'patternProperties']);

function compareNamed(schemas: unknown, sent: unknown, dropped: Set<string>): void {
  if (!isJsonObject(schemas)) return;
  for (const [name, schema] of Object.entries(schemas)) compare(schema, valueAt(sent, name), dropped);
}
