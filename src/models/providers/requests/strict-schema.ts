import { isJsonObject } from '../../../utils/bounded-json.ts';

/** Keywords that strict mode does not support. */
const UNSUPPORTED_KEYWORDS = [
  'allOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
];

/**
 * Returns true if a schema fits the providers' strict mode: every object requires all of its properties and allows no
 * others.
 */
export function isStrict(schema: unknown): boolean {
  return isJsonObject(schema) && schema['type'] === 'object' && isStrictPart(schema);
}

function isStrictPart(schema: unknown): boolean {
  if (!isJsonObject(schema) || UNSUPPORTED_KEYWORDS.some(keyword => keyword in schema)) return false;
  const {
    type,
    properties,
    required,
    additionalProperties,
    items,
    anyOf,
    enum: values,
    $ref,
    $defs,
  } = schema;
  const parts = [anyOf, isJsonObject($defs) ? Object.values($defs) : []].flatMap(list => list ?? []);
  if (!parts.every(isStrictPart)) return false;
  if ((Array.isArray(type) ? type : [type]).includes('object')) {
    if (additionalProperties !== false || !isJsonObject(properties)) return false;
    const names = Array.isArray(required) ? (required as unknown[]) : [];
    if (!Object.keys(properties).every(name => names.includes(name))) return false;
    return Object.values(properties).every(isStrictPart);
  }
  if (type === 'array') return isStrictPart(items);
  return type !== undefined || anyOf !== undefined || values !== undefined || $ref !== undefined;
}
