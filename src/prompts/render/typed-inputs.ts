import { FileFault } from '../../files/formats/file-fault.ts';
import {
  findOwnValue,
  isJsonList,
  type JsonObject,
  type JsonValue,
} from '../../files/formats/json.ts';
import { JsonLimitError, parseBoundedJson } from '../../utils/bounded-json.ts';
import { LimitExceededError } from '../../utils/limit-exceeded.ts';
import { BOUNDS } from '../bounds.ts';
import { InvalidInputsError, type PromptDefinition, type TextInput } from '../definition.ts';
import type { SchemaChecker, ValidationMismatch } from '../schemas/schema-checker.ts';

const TYPE_DESCRIPTIONS = {
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  any: 'a value',
} as const;

/**
 * Converts a run's texts to the types of the prompt's schema. Missing inputs get their defaults;
 * unknown keys are dropped.
 *
 * @throws {InvalidInputsError} that names every missing or mismatching field and the place in it
 * @throws {LimitExceededError} if checking all of them takes longer than `limitMs`
 */
export async function readTextInputs(
  { textInputs, input }: Pick<PromptDefinition, 'textInputs' | 'input'>,
  texts: Readonly<Record<string, string>>,
  limitMs: number = BOUNDS.checkMs,
): Promise<Record<string, JsonValue>> {
  const check = await loadChecker(textInputs, limitMs);
  const values: [string, JsonValue][] = [];
  const faults: string[] = [];
  for (const field of textInputs) {
    const { key, required } = field;
    const text = Object.hasOwn(texts, key) ? texts[key] : undefined;
    if (text === undefined && required) faults.push(`the input ${key} is required`);
    const { value, fault } =
      text === undefined
        ? { value: findInputDefault(field, input) }
        : await readTextInput(field, text, check);
    if (fault !== undefined) faults.push(`the input ${key} ${fault}`);
    else if (value !== undefined) values.push([key, value]);
  }

  if (faults.length > 0) throw new InvalidInputsError(faults);
  return Object.fromEntries(values);
}

/** A value, or the fault of a text that has none. */
interface ParsedInput {
  readonly value?: JsonValue | undefined;
  /** The fault as a predicate to follow the field's name. */
  readonly fault?: string;
}

function findInputDefault(
  { key, schema, default: inputDefault }: TextInput,
  { default: defaults }: PromptDefinition['input'],
): JsonValue | undefined {
  return findOwnValue(defaults, key) ?? schema?.['default'] ?? inputDefault;
}

async function readTextInput(
  input: TextInput,
  text: string,
  check: SchemaChecker,
): Promise<ParsedInput> {
  const { schema, type, enum: choices } = input;
  if (choices) {
    if (!choices.includes(text)) return { fault: `must be one of ${choices.join(', ')}` };
    return { value: getChoiceValue(schema, text) };
  }

  if (!schema) return { value: text };

  const parsed = type === 'string' ? { value: text } : await parseTypedText(type, text);
  if (parsed.value === undefined) return parsed;

  const mismatch = findInputMismatch(input, parsed.value, check);
  if (!mismatch) return parsed;

  // If the parsed value does not match, the text itself may.
  const wasParsed = type === 'any' && typeof parsed.value !== 'string';
  if (wasParsed && !findInputMismatch(input, text, check)) return { value: text };

  const { pointer, message, isSchemaFault } = mismatch;
  if (isSchemaFault) return { fault: `can't be checked: ${message}` };

  const isTypeMismatch =
    type !== 'string' && [`must be ${type}`, `must be ${type} or null`].includes(message);
  if (pointer === '' && isTypeMismatch) return { fault: `must be ${TYPE_DESCRIPTIONS[type]}` };
  return {
    fault: pointer === '' ? message : `does not match its schema at ${pointer}: ${message}`,
  };
}

function getChoiceValue(schema: JsonObject | undefined, text: string): JsonValue {
  const values = schema?.['enum'];
  const isChosen = (value: JsonValue): boolean =>
    typeof value !== 'string' && JSON.stringify(value) === text;
  return (isJsonList(values) ? values.find(isChosen) : undefined) ?? text;
}

/** Parses a text as JSON, else as YAML; for `any` the text itself may be the value. */
async function parseTypedText(
  type: keyof typeof TYPE_DESCRIPTIONS,
  text: string,
): Promise<ParsedInput> {
  try {
    return {
      value: parseBoundedJson(text, { ...BOUNDS.json, maxLevels: BOUNDS.valueDepth }) as JsonValue,
    };
  } catch (error) {
    if (error instanceof JsonLimitError) return { fault: error.message };
  }
  const value = type === 'any' ? text : await parseYamlText(text);
  return value === undefined
    ? { fault: `must be ${TYPE_DESCRIPTIONS[type]}, as JSON or YAML` }
    : { value };
}

async function parseYamlText(text: string): Promise<JsonValue | undefined> {
  if (text.length > BOUNDS.yamlInputLength) return undefined;
  const { parseYaml } = await import('../../files/formats/yaml.ts');
  try {
    return parseYaml(text).toJson();
  } catch (error) {
    if (error instanceof FileFault) return undefined;
    throw error;
  }
}

/** Loads the schema checker only if a field needs it. */
async function loadChecker(
  textInputs: readonly TextInput[],
  limitMs: number,
): Promise<SchemaChecker> {
  if (textInputs.every(({ schema }) => schema === undefined)) return () => undefined;
  const { createSchemaChecker } = await import('../schemas/schema-checker.ts');
  return await createSchemaChecker(limitMs);
}

function findInputMismatch(
  { key, schema = {} }: TextInput,
  value: JsonValue,
  check: SchemaChecker,
): ValidationMismatch | undefined {
  try {
    return check(schema, value);
  } catch (error) {
    if (!(error instanceof LimitExceededError)) throw error;
    throw new LimitExceededError(`the input ${key} can't be checked: ${error.message}`);
  }
}
