import {
  describeKind,
  findOwnValue,
  isJsonList,
  type JsonObject,
  type JsonValue,
} from '../../files/formats/json.ts';
import { toTextOrJson } from '../../files/formats/json-fields.ts';
import { isJsonObject } from '../../utils/bounded-json.ts';
import { didYouMean } from '../../utils/nearest-name.ts';
import type { ImageInputField, InputType, TextInput } from '../definition.ts';
import type { Findings } from '../findings.ts';
import type { FieldUse } from '../template/syntax.ts';
import type { FrontMatter, LocatedValue } from './front-matter.ts';

export interface PromptInputs {
  readonly textInputs: readonly TextInput[];
  readonly imageInputs: readonly ImageInputField[];
}

/** An input with its schema. */
interface SchemaField {
  readonly key: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

/** Sorts the inputs into texts and images by how the template uses them. */
export function sortInputs(
  frontMatter: FrontMatter,
  uses: readonly FieldUse[],
  findings: Findings,
): PromptInputs {
  const declaredInputs = listDeclaredFields(frontMatter);
  const fields = [
    ...declaredInputs,
    ...listUndeclaredFields(frontMatter, new Set(declaredInputs.map(({ key }) => key)), uses),
  ];

  const knownNames = new Set(fields.map(({ key }) => key));
  for (const use of uses) {
    // A field that can't be read has a finding already.
    const isMissing = !knownNames.has(use.key) && !frontMatter.declaresField(use.key);
    if (use.isCertain && isMissing && !isVariable(use.key)) {
      reportUnknown(use, [...knownNames], findings);
    }
  }

  for (const [key, { place }] of frontMatter.defaults) {
    if (!knownNames.has(key)) findings.addNote(place, `the default \`${key}\` belongs to no input`);
  }

  const imageNames = new Set(uses.filter(({ isImage }) => isImage).map(({ key }) => key));
  const imageFields = fields.filter(({ key }) => imageNames.has(key));
  const textFields = fields.filter(({ key }) => !imageNames.has(key));
  for (const field of imageFields) noteImage(field, frontMatter, findings);

  return {
    textInputs: textFields.map(field =>
      createTextInput(field, frontMatter.defaults.get(field.key), findings),
    ),
    imageInputs: imageFields.map(({ key, schema }) => ({ key, ...pickDescription(schema) })),
  };
}

function listDeclaredFields({ inputSchema }: FrontMatter): SchemaField[] {
  if (!inputSchema) return [];

  const properties = findOwnValue(inputSchema, 'properties');
  const requiredNames = findOwnValue(inputSchema, 'required');
  if (!isJsonObject(properties)) return [];

  const names = new Set(isJsonList(requiredNames) ? requiredNames : []);
  return Object.entries(properties).map(([key, schema]) => {
    const field = isJsonObject(schema) ? withDefinitions(schema, inputSchema) : {};
    return {
      key,
      schema: field,
      isRequired: names.has(key) && findOwnValue(field, 'default') === undefined,
    };
  });
}

/**
 * Adds the definitions that a field's schema may refer to, because each field is checked on its
 * own.
 */
function withDefinitions(schema: JsonObject, { $defs, definitions }: JsonObject): JsonObject {
  if (!JSON.stringify(schema).includes('"$ref"')) return schema;
  return {
    ...schema,
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
}

/**
 * Returns the undeclared inputs: every name in the template without a schema, else names that the
 * schema allows.
 */
function listUndeclaredFields(
  frontMatter: FrontMatter,
  declaredNames: ReadonlySet<string>,
  uses: readonly FieldUse[],
): SchemaField[] {
  const { inputSchema, defaults } = frontMatter;
  const acceptsAllNames = inputSchema === undefined || !isJsonObject(inputSchema['properties']);
  const additionalProperties = inputSchema?.['additionalProperties'] ?? true;
  const schema = isJsonObject(additionalProperties) ? additionalProperties : {};
  const allowedUses =
    acceptsAllNames || additionalProperties !== false
      ? uses
      : uses.filter(({ key }) => isVariable(key));
  const namesWithDefault = [...defaults.keys()].filter(key => uses.some(use => use.key === key));
  const keys = new Set([...allowedUses.map(({ key }) => key), ...namesWithDefault]);
  const certainNames = new Set(uses.filter(use => use.isCertain).map(({ key }) => key));

  return [...keys]
    .filter(key => !declaredNames.has(key))
    .map(key => ({
      key,
      schema:
        acceptsAllNames || !isJsonObject(additionalProperties)
          ? inferDefaultSchema(defaults.get(key))
          : schema,
      isRequired: acceptsAllNames && certainNames.has(key) && !isVariable(key),
    }));
}

/** Returns true for `{{$name}}`, which is empty by default. */
function isVariable(key: string): boolean {
  return key.startsWith('$');
}

/** Returns the schema of an undeclared input: the type of its default, else text. */
function inferDefaultSchema(locatedDefault: LocatedValue<JsonValue> | undefined): JsonObject {
  const value = locatedDefault?.value ?? '';
  return { type: isJsonList(value) ? 'array' : typeof value };
}

function reportUnknown(
  { key, file, ...place }: FieldUse,
  knownNames: readonly string[],
  findings: Findings,
): void {
  const message = `\`${key}\` is not in input.schema: declare it there${didYouMean(key, knownNames)}`;
  findings.addFault(place, message, file);
}

function noteImage(
  { key, schema, isRequired }: SchemaField,
  { defaults, getFieldPlace }: FrontMatter,
  findings: Findings,
): void {
  const place = getFieldPlace(key);
  const locatedDefault = defaults.get(key);
  if (locatedDefault) {
    findings.addNote(
      locatedDefault.place,
      `\`${key}\` is a picture, and those are always required: the default has no effect`,
    );
  } else if (!isRequired) {
    findings.addNote(
      place,
      `\`${key}\` is a picture, and those are always required: the \`?\` has no effect`,
    );
  }

  if (!isTextType(listSchemaTypes(schema))) {
    findings.addFault(place, `\`${key}\` is a picture: declare it as a string`);
  }
}

function createTextInput(
  { key, schema, isRequired }: SchemaField,
  locatedDefault: LocatedValue<JsonValue> | undefined,
  findings: Findings,
): TextInput {
  const choices = findEnumChoices(schema);
  const type = inferInputType(schema);
  const defaultValue = locatedDefault?.value ?? findOwnValue(schema, 'default');
  const defaultText = defaultValue === undefined ? undefined : toTextOrJson(defaultValue);
  const fault = locatedDefault && findDefaultFault(locatedDefault.value, { key, schema, choices });
  if (locatedDefault && fault !== undefined) findings.addFault(locatedDefault.place, fault);

  return {
    key,
    ...pickDescription(schema),
    required: isRequired && locatedDefault === undefined,
    type,
    ...(defaultText !== undefined && { default: defaultText }),
    ...(choices && { enum: choices }),
    ...(needsCheck(schema, choices) && { schema }),
  };
}

interface CheckedSchema {
  readonly key: string;
  readonly schema: JsonObject;
  /** The values of an enum as texts. */
  readonly choices: readonly string[] | undefined;
}

function findDefaultFault(
  value: JsonValue,
  { key, schema, choices }: CheckedSchema,
): string | undefined {
  if (choices) {
    return value === null || choices.includes(toTextOrJson(value))
      ? undefined
      : `the default of \`${key}\` is not one of its values: ${choices.join(', ')}`;
  }

  const types = listSchemaTypes(schema);
  if (types.length === 0 || types.some(type => hasType(value, type))) return undefined;
  return `the default of \`${key}\` must be of the type ${types.join(' or ')}, not ${describeKind(value)}`;
}

function hasType(value: JsonValue, type: string): boolean {
  if (type === 'array') return isJsonList(value);
  if (type === 'object') return isJsonObject(value);
  if (type === 'integer') return Number.isInteger(value);
  return type === 'null' ? value === null : typeof value === type;
}

function listSchemaTypes(schema: JsonObject): readonly string[] {
  const { type = [] } = schema;
  const types: readonly JsonValue[] = isJsonList(type) ? type : [type];
  return types.filter(type => typeof type === 'string');
}

function isTextType(types: readonly string[]): boolean {
  return types.length === 0 || types.includes('string');
}

function findEnumChoices({ enum: choices }: JsonObject): string[] | undefined {
  return isJsonList(choices)
    ? choices.filter(choice => choice !== null).map(toTextOrJson)
    : undefined;
}

const INPUT_TYPES: ReadonlySet<string> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'array',
  'object',
]);

function inferInputType(schema: JsonObject): InputType {
  const { enum: choices } = schema;
  const kinds = isJsonList(choices)
    ? choices.filter(choice => choice !== null).map(choice => typeof choice)
    : listSchemaTypes(schema).filter(type => type !== 'null');
  const [kind, ...otherKinds] = new Set(kinds);
  return kind !== undefined && otherKinds.length === 0 && INPUT_TYPES.has(kind)
    ? (kind as InputType)
    : 'any';
}

/** Keywords that don't restrict a text. */
const UNRESTRICTING_KEYWORDS = new Set([
  'type',
  'description',
  'title',
  'default',
  'examples',
  '$comment',
]);

function needsCheck(schema: JsonObject, choices: readonly string[] | undefined): boolean {
  const { enum: values } = schema;
  if (choices && isJsonList(values)) {
    return values.some(value => value !== null && typeof value !== 'string');
  }
  const isText = inferInputType(schema) === 'string';
  return !isText || Object.keys(schema).some(keyword => !UNRESTRICTING_KEYWORDS.has(keyword));
}

function pickDescription({ description }: JsonObject): { description?: string } {
  return typeof description === 'string' && description !== '' ? { description } : {};
}
