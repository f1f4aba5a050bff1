import type { Schema } from './interface-rules.ts';

/** The part of an OpenAPI 3.1 description that is used here. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, { readonly post?: { readonly requestBody?: unknown } }>>;
  readonly schemas: Readonly<Record<string, Schema>>;
}

/**
 * Returns the schema of the JSON that an endpoint takes by POST. An object takes only the
 * properties that the description names: a description leaves that open, a service doesn't.
 */
export function findDescribedSchema({ paths, schemas }: OpenApi, endpoint: string): Schema {
  const body = paths[endpoint]?.post?.requestBody as
    | { content: Record<string, { schema: Schema }> }
    | undefined;
  const schema = body?.content['application/json']?.schema;
  if (!schema) throw new Error(`${endpoint} takes no JSON by POST`);

  const every = (isClosed: boolean): Schema =>
    Object.fromEntries(
      Object.entries(schemas).map(([name, one]) => [name, convertSchema(one, isClosed)]),
    );

  return { ...(convertSchema(schema, true) as Schema), closed: every(true), open: every(false) };
}

/** Keywords whose values are not schemas. */
const DATA: ReadonlySet<string> = new Set([
  'const',
  'default',
  'enum',
  'example',
  'examples',
  'required',
]);

/** Keywords of older versions, and those that help to choose an alternative. */
const NO_KEYWORDS: ReadonlySet<string> = new Set(['nullable', 'discriminator']);

/** Parts of an `allOf` stay open, because each of them sees the properties of the others. */
function convertSchema(value: unknown, isClosed: boolean): unknown {
  if (Array.isArray(value)) return value.map(item => convertSchema(item, isClosed));
  if (typeof value !== 'object' || value === null) return value;

  const schema = value as Schema;
  if (typeof schema['$ref'] === 'string') {
    return {
      $ref: schema['$ref'].replace('#/components/schemas/', isClosed ? '#/closed/' : '#/open/'),
    };
  }

  const result = Object.entries(schema).flatMap(([key, inner]): [string, unknown][] => {
    if (key.startsWith('$recursive') || NO_KEYWORDS.has(key)) return [];
    if (DATA.has(key)) return [[key, inner]];
    if (key === 'allOf') return [[key, convertSchema(inner, false)]];

    if (key === 'properties') {
      const entries = Object.entries(inner as Schema).map(([name, one]) => [
        name,
        convertSchema(one, true),
      ]);
      return [[key, Object.fromEntries(entries)]];
    }

    // Alternatives of a description often overlap.
    if (key === 'oneOf' || key === 'anyOf') return [['anyOf', convertSchema(inner, isClosed)]];
    return [[key, convertSchema(inner, true)]];
  });

  const isObject = 'properties' in schema || 'allOf' in schema;
  const closes = isClosed && isObject && !('additionalProperties' in schema);
  const plain = { ...Object.fromEntries(result), ...(closes && { unevaluatedProperties: false }) };
  return schema['nullable'] === true ? { anyOf: [plain, { type: 'null' }] } : plain;
}
