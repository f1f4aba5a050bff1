import { isJsonObject } from '../../utils/bounded-json.ts';
import type { Schema } from './schema.ts';

/**
 * Explains the first fault of a value, with its field and the broken rule, in one line. Returns
 * undefined if the value matches the schema.
 */
export function findValueFault(schema: Schema, value: unknown, field = ''): string | undefined {
  const { type, enum: allowedValues, pattern } = schema;
  if (type !== undefined && !matchesType(value, type)) {
    return `${field || 'the body'} must be ${describeType(type)}`;
  }

  if (schema.const !== undefined && value !== schema.const) {
    return `${field} must be ${JSON.stringify(schema.const)}`;
  }

  if (allowedValues && !allowedValues.includes(value)) {
    return `${field} must be one of ${allowedValues.map(String).join(', ')}`;
  }

  if (pattern !== undefined && typeof value === 'string' && !new RegExp(pattern).test(value)) {
    return `${field} must be ${schema.format === 'uuid' ? 'a UUID' : `of the form ${pattern}`}`;
  }

  if (typeof value === 'number') return findRangeFault(schema, value, field);
  if (Array.isArray(value)) return findItemsFault(schema, value, field);
  return isJsonObject(value) ? findFieldsFault(schema, value, field) : undefined;
}

function matchesType(value: unknown, type: string | readonly string[]): boolean {
  if (typeof type !== 'string') return type.some(alternative => matchesType(value, alternative));
  if (type === 'object') return isJsonObject(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'null') return value === null;
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

function findRangeFault(
  { minimum, maximum }: Schema,
  value: number,
  field: string,
): string | undefined {
  if (minimum !== undefined && value < minimum) return `${field} must be at least ${minimum}`;
  if (maximum !== undefined && value > maximum) return `${field} must be at most ${maximum}`;
  return undefined;
}

function findItemsFault(
  { items }: Schema,
  values: readonly unknown[],
  field: string,
): string | undefined {
  if (!items) return undefined;
  for (const [index, value] of values.entries()) {
    const fault = findValueFault(items, value, `${field}[${index}]`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function findFieldsFault(
  schema: Schema,
  value: Readonly<Record<string, unknown>>,
  field: string,
): string | undefined {
  const { properties = {}, required = [], additionalProperties } = schema;
  const missingKey = required.find(key => !Object.hasOwn(value, key));
  if (missingKey !== undefined) return `${joinFieldPath(field, missingKey)} is required`;

  for (const key of Object.keys(value)) {
    const fieldSchema = Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
    const fault = fieldSchema && findValueFault(fieldSchema, value[key], joinFieldPath(field, key));
    if (fault !== undefined) return fault;
  }

  return findVariantFault(schema, value, field);
}

function findVariantFault(
  { discriminator, oneOf = [] }: Schema,
  value: Readonly<Record<string, unknown>>,
  field: string,
): string | undefined {
  if (!discriminator) return undefined;
  const { propertyName } = discriminator;
  const getVariantTag = (variant: Schema): unknown => variant.properties?.[propertyName]?.const;
  const variant = oneOf.find(variant => getVariantTag(variant) === value[propertyName]);
  if (variant) return findValueFault(variant, value, field);
  return `${joinFieldPath(field, propertyName)} must be one of ${oneOf.map(getVariantTag).join(', ')}`;
}

function joinFieldPath(path: string, step: string): string {
  return path === '' ? step : `${path}.${step}`;
}

function describeType(type: string | readonly string[]): string {
  const names = [type].flat();
  return names.map(name => `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`).join(' or ');
}
