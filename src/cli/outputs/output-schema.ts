import { createHash } from 'node:crypto';
import type { ErrorObject } from 'ajv';
import { messageOf } from '../../files/error-utils.ts';
import type { OutputItem } from '../../wire/index.ts';
import { fieldText } from '../core/json-value.ts';
import { usageError } from '../errors.ts';
import { readTextFile } from '../inputs/read-text.ts';

/** Where a value does not match a JSON Schema first. */
export interface SchemaMismatch {
  /** A JSON Pointer; the empty text is the whole value. */
  readonly pointer: string;
  readonly message: string;
}

/** Checks a value against a schema; undefined where it matches. */
export type SchemaCheck = (value: unknown) => SchemaMismatch | undefined;

/**
 * Reads a JSON Schema for checking outputs. Fetches nothing: a `$ref` that leads out of the file is refused.
 *
 * @param where what named the file, as errors say it: a flag or a place in a file
 * @throws {CliError} USAGE_ERROR for a file that can't be read or is not a JSON Schema
 */
export async function readSchema(file: string, cwd: string, where: string): Promise<SchemaCheck> {
  const text = await readTextFile(file, cwd, where);
  let schema: unknown;
  try {
    schema = JSON.parse(text.replace(/^\uFEFF/u, ''));
  } catch (error) {
    throw usageError(`${where}: ${file} is not JSON: ${messageOf(error)}`);
  }
  return compileSchema(schema, `${where}: ${file}`);
}

/** SHA-256 of a schema file, hexadecimal, which recordings know a run by. */
export async function schemaDigest(file: string, cwd: string, where: string): Promise<string> {
  return createHash('sha256')
    .update(await readTextFile(file, cwd, where))
    .digest('hex');
}

/** Compiles a schema that was read already. @throws {CliError} USAGE_ERROR where it is not a JSON Schema */
export async function compileSchema(schema: unknown, where: string): Promise<SchemaCheck> {
  if (
    typeof schema !== 'boolean' &&
    (typeof schema !== 'object' || schema === null || Array.isArray(schema))
  ) {
    throw usageError(`${where} is not a JSON Schema: it must be an object, true or false`);
  }
  try {
    const validate = (await schemaCompiler(schema)).compile(schema);
    return value => (validate(value) ? undefined : firstMismatch(validate.errors ?? []));
  } catch (error) {
    throw usageError(
      `${where} is not a JSON Schema that can be used: ${messageOf(error)}`,
      'Remote references are not fetched: put what they name into the file, under $defs.',
    );
  }
}

async function schemaCompiler(schema: object | boolean): Promise<{ compile: import('ajv').Ajv['compile'] }> {
  const dialect = typeof schema === 'object' && '$schema' in schema ? String(schema.$schema) : '';
  const { default: formats } = await import('ajv-formats');
  const options = { strict: false, allErrors: false, logger: false } as const;
  const ajv = dialect.includes('draft-07')
    ? new (await import('ajv')).Ajv(options)
    : new (await import('ajv/dist/2020.js')).Ajv2020(options);
  formats.default(ajv);
  return ajv;
}

function firstMismatch([error]: readonly ErrorObject[]): SchemaMismatch {
  if (error === undefined) {
    return { pointer: '', message: 'does not match' };
  }
  const { instancePath: pointer, message = 'does not match', params } = error;
  const extra = 'additionalProperty' in params ? ` (${JSON.stringify(params['additionalProperty'])})` : '';
  const allowed = 'allowedValues' in params ? `: ${JSON.stringify(params['allowedValues'])}` : '';
  return { pointer, message: `${message}${extra}${allowed}` };
}

/** A text as JSON; undefined where it is not. */
export function parseJsonText(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** The text of a run's outputs: every text item, in order, a line break between two. */
export function textOfOutputs(outputs: readonly OutputItem[]): string {
  return outputs
    .filter(({ type }) => type === 'text')
    .map(({ data }) => fieldText(data))
    .join('\n');
}

/** Where the text output of a run does not match a schema; undefined where it does. */
export function outputMismatch(
  outputs: readonly OutputItem[],
  check: SchemaCheck,
): SchemaMismatch | undefined {
  const json = parseJsonText(textOfOutputs(outputs));
  return json === undefined ? { pointer: '', message: 'it is not JSON' } : check(json.value);
}

/** A mismatch as people read it. */
export function mismatchText({ pointer, message }: SchemaMismatch): string {
  return `the output does not match the schema at ${JSON.stringify(pointer)}: ${message}`;
}
