import { faultAt } from '../../files/formats/file-fault.ts';
import { isJsonList, type JsonObject, type JsonValue } from '../../files/formats/json.ts';
import type { YamlEntry, YamlValue } from '../../files/formats/yaml.ts';
import { isJsonObject } from '../../utils/bounded-json.ts';
import { checkJsonSchema, JSON_TYPES } from './json-schema.ts';
import { type SchemaContext, splitDescription } from './schema-context.ts';

/** The beginning of the note on a schema that is used by name and was not found. */
export const MISSING_SCHEMA_PREFIX = 'unknown schema';

/** Matches words that authors write as the type of an image. */
const IMAGE_TYPE = /^(?:image|picture|photo|media|file)$/i;

/** Returns true for the note on a schema that is used by name and was not found. */
export function isMissingSchemaNote(message: string): boolean {
  return message.startsWith(MISSING_SCHEMA_PREFIX);
}

/** The scalar types of Picoschema. */
export const SCALAR_TYPES: ReadonlySet<string> = new Set([
  'any',
  'boolean',
  'integer',
  'null',
  'number',
  'string',
]);

/** The end of messages about a key or a value that is not Picoschema. */
const FIELD_ADVICE =
  'write `field: type, description`, where the type is string, number, integer, boolean, null or any';

/** Matches `name`, `name?`, `name(array)` and `name?(enum, what it is for)`. */
const PICOSCHEMA_KEY =
  /^(?<name>[^?()]+)(?<optionalMark>\?)?(?:\((?<type>[^,()]*)(?:,(?<description>[^]*))?\))?$/;

/** The key whose value is the type of all fields that are not declared. */
const WILDCARD = '(*)';

/**
 * Reads a schema, in Picoschema or JSON Schema, as JSON Schema. Faults become findings; returns
 * undefined for them, for an empty schema and for the name of an unknown one.
 */
export function readSchema(value: YamlValue, context: SchemaContext): JsonObject | undefined {
  if (value.isEmpty) return undefined;
  return context.findings.attempt(() => {
    if (isUnknownSchemaName(value, context)) {
      const name = value.readText('schema');
      const files = `${name}.schema.json and ${name}.schema.yaml`;
      context.findings.addNote(
        value,
        `${MISSING_SCHEMA_PREFIX} \`${name}\` (${files}): anything is accepted`,
      );
      return undefined;
    }

    if (!isJsonSchema(value)) return readType(value, context);

    const schema = expandShorthand(value.toJson()) as JsonObject;
    checkJsonSchema(schema, value, context);
    return 'type' in schema || !isJsonObject(schema['properties'])
      ? schema
      : { ...schema, type: 'object' };
  });
}

/** Returns true if a schema has `properties`, or a type of JSON Schema, at its top level. */
function isJsonSchema(value: YamlValue): boolean {
  if (!value.isMap) return false;
  const entries = new Map(value.readEntries('the schema').map(({ key, value }) => [key, value]));
  const type = entries.get('type');
  if ([...JSON_TYPES, 'any'].includes(type?.scalar ?? '')) return true;
  if (type?.isList || entries.get('properties')?.isMap) return true;
  const hasCombination = ['anyOf', 'oneOf', 'allOf', 'enum'].some(key => entries.get(key)?.isList);
  return hasCombination || [...entries.keys()].some(key => key.startsWith('$'));
}

/** Returns true for a single word that could only be the name of a schema in a registry. */
function isUnknownSchemaName(value: YamlValue, { namedSchemas }: SchemaContext): boolean {
  const name = value.isNull ? undefined : value.scalar;
  if (name === undefined || !/^[A-Za-z_][\w.-]*$/u.test(name)) return false;
  return !SCALAR_TYPES.has(name) && !Object.hasOwn(namedSchemas, name) && !IMAGE_TYPE.test(name);
}

/** Expands properties of a JSON Schema that are written like Picoschema: `type, description`. */
function expandShorthand(schema: JsonValue): JsonValue {
  if (!isJsonObject(schema)) return schema;
  const { properties, items } = schema;
  return {
    ...schema,
    ...(isJsonObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, expandProperty(property)]),
      ),
    }),
    ...(items !== undefined && { items: isJsonList(items) ? items : expandProperty(items) }),
  };
}

function expandProperty(property: JsonValue): JsonValue {
  if (typeof property !== 'string') return expandShorthand(property);
  const { type, description } = splitDescription(property);
  if (!SCALAR_TYPES.has(type)) return property;
  return { ...(type !== 'any' && { type }), ...(description !== undefined && { description }) };
}

function formatImageAdvice(type: string): string {
  return `\`${type}\` is not a type: make the field a string, and use it in the template as {{media url=<field>}}, which makes it an image input`;
}

/** Reads a type: `type, description`, or a map of fields. */
function readType(value: YamlValue, context: SchemaContext): JsonObject {
  if (value.isMap) return readFields(value.readEntries('this object'), context);
  if (value.isList) throw faultAt(value, `a list is not a type: ${FIELD_ADVICE}`);

  // YAML reads the type `null` as an empty value.
  const typeText = value.isNull ? 'null' : value.readText('a type');
  const { type, description } = splitDescription(typeText);
  const descriptionField = description === undefined ? {} : { description };
  if (type === 'any') return descriptionField;
  if (SCALAR_TYPES.has(type)) return { type, ...descriptionField };

  const namedSchema = Object.hasOwn(context.namedSchemas, type)
    ? context.namedSchemas[type]
    : undefined;
  if (namedSchema) return { ...namedSchema, ...descriptionField };
  if (IMAGE_TYPE.test(type)) throw faultAt(value, formatImageAdvice(type));
  throw faultAt(value, `\`${type}\` is not a type: ${FIELD_ADVICE}`);
}

function readFields(entries: readonly YamlEntry[], context: SchemaContext): JsonObject {
  const properties: [string, JsonObject][] = [];
  const requiredNames: string[] = [];
  let additionalProperties: JsonValue = false;
  for (const entry of entries) {
    if (context.hasTooManyFields()) break;

    if (entry.key === WILDCARD) {
      additionalProperties = context.findings.attempt(() => readType(entry.value, context)) ?? {};
      continue;
    }

    const field = context.findings.attempt(() => readField(entry, context));
    if (!field) continue;

    if (properties.some(([name]) => name === field.name)) {
      context.findings.addFault(entry, `the field \`${field.name}\` is declared twice`);
    }

    properties.push([field.name, field.schema]);
    if (!field.isOptional) requiredNames.push(field.name);
  }

  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(requiredNames.length > 0 && { required: requiredNames }),
    additionalProperties,
  };
}

/** A field of Picoschema, with its type as JSON Schema. */
interface PicoField {
  readonly name: string;
  readonly isOptional: boolean;
  readonly schema: JsonObject;
}

function readField(entry: YamlEntry, context: SchemaContext): PicoField {
  context.countField(entry);
  const keyParts = PICOSCHEMA_KEY.exec(entry.key)?.groups ?? {};
  const name = keyParts['name']?.trim() ?? '';
  if (!isFieldName(name)) {
    throw faultAt(entry, `\`${entry.key}\` is not a field: ${FIELD_ADVICE}`);
  }

  const isOptional = keyParts['optionalMark'] !== undefined;
  const type = readFieldType(entry, keyParts['type']?.trim(), name, context);
  const description = keyParts['description']?.trim() ?? '';
  const schema = description === '' ? type : { ...type, description };

  return { name, isOptional, schema: isOptional ? allowNull(schema) : schema };
}

/** Returns true for a valid field name. Names appear on the command line as `name=value`. */
function isFieldName(name: string): boolean {
  return name !== '' && !/[\p{Cc}=]/u.test(name);
}

function readFieldType(
  entry: YamlEntry,
  type: string | undefined,
  name: string,
  context: SchemaContext,
): JsonObject {
  switch (type) {
    case undefined:
    case 'object':
      return readType(entry.value, context);
    case 'array':
      return { type: 'array', items: readType(entry.value, context) };
    case 'enum':
      return { enum: readChoices(entry, name) };
    default:
      throw faultAt(
        entry,
        `\`${name}\`: the word in parentheses must be array, object or enum, not \`${type}\``,
      );
  }
}

function readChoices(entry: YamlEntry, name: string): JsonValue[] {
  const choices = entry.value.readItems(`the values of \`${name}\``).map(item => item.toJson());
  if (choices.length === 0) throw faultAt(entry, `\`${name}\` has no values to choose from`);
  const choicesByJson = new Map(choices.map(choice => [JSON.stringify(choice), choice]));
  return [...choicesByJson.values()];
}

/** Returns the schema of an optional field, which may be null if it has one type or choices. */
function allowNull(schema: JsonObject): JsonObject {
  const { type, enum: choices } = schema;
  if (typeof type === 'string') return { ...schema, type: [type, 'null'] };
  if (isJsonList(choices) && !choices.includes(null)) {
    return { ...schema, enum: [...choices, null] };
  }
  return schema;
}
