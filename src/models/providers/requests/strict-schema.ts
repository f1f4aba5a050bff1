import { isJsonObject, type UncheckedObject } from '../../../utils/bounded-json.ts';

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
 * Returns true if a schema fits the providers' strict mode: every object requires all of its
 * properties and allows no others.
 */
export function fitsStrictMode(schema: unknown): boolean {
  return isJsonObject(schema) && schema['type'] === 'object' && isStrictPart(schema);
}

function isStrictPart(schema: unknown): boolean {
  if (!isJsonObject(schema) || UNSUPPORTED_KEYWORDS.some(keyword => keyword in schema)) {
    return false;
  }

  const { type, items, anyOf, enum: enumValues, $ref, $defs } = schema;
  const alternatives: unknown[] = Array.isArray(anyOf) ? anyOf : [];
  const definitions = isJsonObject($defs) ? Object.values($defs) : [];
  if (![...alternatives, ...definitions].every(isStrictPart)) return false;

  const isObject = Array.isArray(type) ? type.includes('object') : type === 'object';
  if (isObject) return isStrictObject(schema);
  if (type === 'array') return isStrictPart(items);
  return (
    type !== undefined || anyOf !== undefined || enumValues !== undefined || $ref !== undefined
  );
}

function isStrictObject({ properties, required, additionalProperties }: UncheckedObject): boolean {
  if (additionalProperties !== false || !isJsonObject(properties)) return false;
  const requiredNames: unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).every(
    ([name, property]) => requiredNames.includes(name) && isStrictPart(property),
  );
}
