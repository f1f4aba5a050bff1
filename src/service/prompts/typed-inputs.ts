import { codeOf } from '../../files/error-utils.ts';
import { FileFault } from '../../files/file-fault.ts';
import { isJsonList, type JsonObject, type JsonValue } from '../../files/json.ts';
import { JsonPastBound, parseBoundedJson } from '../../wire/bounded-json.ts';
import { BOUNDS, PastBound } from './bounds.ts';
import { InvalidInputs, type PromptDefinition, type TextInput } from './definition.ts';
import type { Mismatch, SchemaChecker } from './schemas/validate.ts';

/**
 * The values that the texts of a run stand for, by what the prompt's schema says; defaults where nothing was given.
 * Keys the prompt does not know are left out.
 *
 * @throws {InvalidInputs} that names every field that is missing or does not fit, with the place in it
 * @throws {PastBound} where checking all of them takes longer than `limitMs`
 */
export async function readTextInputs(
  definition: Pick<PromptDefinition, 'textInputs' | 'input'>,
  texts: Readonly<Record<string, string>>,
  limitMs: number = BOUNDS.checkMs,
): Promise<Record<string, JsonValue>> {
  const check = await checkerFor(definition, limitMs);
  const values: [string, JsonValue][] = [];
  const faults: string[] = [];
  for (const input of definition.textInputs) {
    const text = Object.hasOwn(texts, input.key) ? texts[input.key] : undefined;
    const field = `inputs.textInputs.${input.key}`;
    if (text === undefined && input.required) faults.push(`${field} is required`);
    const read =
      text === undefined ? { value: defaultOf(definition, input) } : await readText(input, text, check);
    if (read.fault !== undefined) faults.push(`${field}${read.fault}`);
    else if (read.value !== undefined) values.push([input.key, read.value]);
  }
  if (faults.length > 0) throw new InvalidInputs(faults);
  return Object.fromEntries(values);
}

interface Read {
  readonly value?: JsonValue | undefined;
  /** Continues a sentence that begins with the field. */
  readonly fault?: string;
}

function defaultOf({ input }: Pick<PromptDefinition, 'input'>, field: TextInput): JsonValue | undefined {
  const given =
    input.default && Object.hasOwn(input.default, field.key) ? input.default[field.key] : undefined;
  return given ?? field.schema?.['default'] ?? field.default;
}

async function readText(input: TextInput, text: string, check: SchemaChecker): Promise<Read> {
  const { schema, enum: choices } = input;
  if (choices) {
    if (!choices.includes(text)) return { fault: ` must be one of ${choices.join(', ')}` };
    return { value: choiceOf(schema, text) };
  }
  if (!schema) return { value: text };
  const parsed = await parseText(input, text);
  if (parsed.fault !== undefined || parsed.value === undefined) return parsed;
  const mismatch = mismatchOf(input, parsed.value, check);
  if (!mismatch) return parsed;
  // Where a text will do as well, what looks like a number may have been meant as one.
  const isText = input.type === 'any' && typeof parsed.value !== 'string';
  if (isText && !mismatchOf(input, text, check)) return { value: text };
  const { pointer, message } = mismatch;
  return { fault: ` ${pointer === '' ? message : `does not fit its schema at ${pointer}: ${message}`}` };
}

function choiceOf(schema: JsonObject | undefined, text: string): JsonValue {
  const { enum: values } = schema ?? {};
  const value: JsonValue | undefined = isJsonList(values)
    ? values.find(value => typeof value !== 'string' && JSON.stringify(value) === text)
    : undefined;
  return value ?? text;
}

async function parseText({ key, type }: TextInput, text: string): Promise<Read> {
  if (type === 'string') return { value: text };
  const value = parseJson(key, text) ?? (type === 'any' ? text : await parseYamlText(text));
  if (value === undefined) return { fault: ` must be ${FORMS[type]}, as JSON or YAML` };
  return isTooDeep(value) ? { fault: ` has more than ${BOUNDS.valueDepth} levels` } : { value };
}

const FORMS = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  any: 'a value',
} as const;

function parseJson(key: string, text: string): JsonValue | undefined {
  try {
    return parseBoundedJson(text, BOUNDS.json) as JsonValue;
  } catch (error) {
    if (error instanceof JsonPastBound) throw new PastBound(`inputs.textInputs.${key} ${error.message}`);
    return undefined;
  }
}

async function parseYamlText(text: string): Promise<JsonValue | undefined> {
  if (text.length > BOUNDS.yamlInput) return undefined;
  const { parseYaml } = await import('../../files/yaml.ts');
  try {
    return parseYaml(text).json();
  } catch (error) {
    if (error instanceof FileFault) return undefined;
    throw error;
  }
}

/** Level by level, so that a value nested without end does not end the process. */
function isTooDeep(value: JsonValue): boolean {
  let level: readonly JsonValue[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > BOUNDS.valueDepth) return true;
    level = level.flatMap(item => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return false;
}

/** Loads what checks values only where a field may need it. */
async function checkerFor(
  { textInputs }: Pick<PromptDefinition, 'textInputs'>,
  limitMs: number,
): Promise<SchemaChecker> {
  if (textInputs.every(({ schema }) => schema === undefined)) return () => undefined;
  const { schemaChecker } = await import('./schemas/validate.ts');
  return await schemaChecker(limitMs);
}

function mismatchOf(
  { key, schema = {} }: TextInput,
  value: JsonValue,
  check: SchemaChecker,
): Mismatch | undefined {
  try {
    return check(schema, value);
  } catch (error) {
    if (error instanceof PastBound) {
      throw new PastBound(`inputs.textInputs.${key} can’t be checked: ${error.message}`);
    }
    if (!isInvalidSchema(error)) throw error;
    return { pointer: '', message: `can’t be checked: ${error.message}` };
  }
}

/** By its name: its class is loaded with what checks values. */
function isInvalidSchema(error: unknown): error is Error {
  return codeOf(error) === 'INVALID_SCHEMA';
}
