import { createHash } from 'node:crypto';
import { readJson } from '../../files/formats/json.ts';
import { formatOutputData } from '../../files/formats/json-fields.ts';
import type { SchemaMismatch } from '../../prompts/schemas/mismatch.ts';
import {
  isJsonObject,
  JsonLimitError,
  MAX_JSON,
  parseBoundedJson,
} from '../../utils/bounded-json.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import { LimitExceededError } from '../../utils/limit-exceeded.ts';
import type { OutputItem } from '../../wire/index.ts';
import type { Context } from '../context.ts';
import { CaseFault, usageError } from '../core/errors.ts';
import { readTextFile } from '../inputs/read-text.ts';

/**
 * Checks a value against a schema; returns undefined if it matches.
 *
 * @throws {LimitExceededError} if that takes too long
 */
export type OutputSchemaCheck = (value: unknown) => Promise<SchemaMismatch | undefined>;

/**
 * Reads a JSON Schema for outputs. Fetches nothing: a `$ref` to anything outside the file is
 * refused.
 *
 * @param origin the flag or the place that names the file, for messages
 * @throws {CliError} USAGE_ERROR if the file can't be read or is not a JSON Schema
 */
export async function readOutputSchema(
  ctx: Pick<Context, 'checks' | 'cwd'>,
  file: string,
  origin: string,
): Promise<OutputSchemaCheck> {
  return createSchemaCheck(ctx, await readJsonFile(ctx, file, origin), `${origin}: ${file}`);
}

/** Reads a JSON file. @throws {CliError} USAGE_ERROR if it can't be read or is not JSON */
export async function readJsonFile(
  { cwd }: Pick<Context, 'cwd'>,
  file: string,
  origin: string,
): Promise<unknown> {
  const text = await readTextFile(file, cwd, origin);
  try {
    return parseBoundedJson(text.replace(/^\uFEFF/u, ''), MAX_JSON);
  } catch (error) {
    const fault =
      error instanceof JsonLimitError ? error.message : `is not JSON: ${getErrorMessage(error)}`;
    throw usageError(`${origin}: ${file} ${fault}`);
  }
}

/** Returns the hexadecimal SHA-256 of a schema file, which is part of a recording's key. */
export async function computeSchemaDigest(
  file: string,
  cwd: string,
  origin: string,
): Promise<string> {
  const text = await readTextFile(file, cwd, origin);
  return createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex');
}

/** A schema has a reference that leads back to itself. */
export class SchemaLoopFault extends CaseFault {
  constructor(
    message: string,
    /** The JSON Pointer of the reference. */
    readonly pointer: string,
  ) {
    super(message);
  }
}

const NO_REMOTE_HINT =
  'Remote references are not fetched: put what they name into the file, under $defs.';

/**
 * Returns the check for a parsed schema.
 *
 * @throws {CliError} USAGE_ERROR if it is not a JSON Schema
 * @throws {SchemaLoopFault} if checking against it would never end
 * @throws {LimitExceededError} if compiling it takes too long
 */
export async function createSchemaCheck(
  ctx: Pick<Context, 'checks'>,
  schema: unknown,
  origin: string,
): Promise<OutputSchemaCheck> {
  if (typeof schema !== 'boolean' && !isJsonObject(schema)) {
    throw usageError(`${origin} is not a JSON Schema: it must be an object, true or false`);
  }

  const checks = await ctx.checks();
  const fault = await checks.perform('findSchemaFault', schema);
  if (fault?.loop !== undefined) {
    throw new SchemaLoopFault(`${origin}: ${fault.message}`, fault.loop);
  }

  if (fault !== undefined) {
    const message = `${origin} is not a JSON Schema that can be used: ${fault.message}`;
    const isReference = /\breference\b/iu.test(fault.message);
    throw isReference ? usageError(message, NO_REMOTE_HINT) : usageError(message);
  }

  return value => checks.perform('findSchemaMismatch', schema, value);
}

/** Joins the text outputs of a run with line breaks. */
export function joinTextOutputs(outputs: readonly OutputItem[]): string {
  return outputs
    .filter(({ type }) => type === 'text')
    .map(({ data }) => formatOutputData(data))
    .join('\n');
}

/** Returns the first mismatch of a run's text output with a schema; undefined if it matches. */
export async function findOutputMismatch(
  outputs: readonly OutputItem[],
  check: OutputSchemaCheck,
): Promise<SchemaMismatch | undefined> {
  const json = readJson(joinTextOutputs(outputs));
  if ('fault' in json) return { pointer: '', message: `it ${json.fault}` };
  try {
    return await check(json.value);
  } catch (error) {
    if (error instanceof LimitExceededError) return { pointer: '', message: error.message };
    throw error;
  }
}

/** Formats a mismatch for people. */
export function formatMismatch({ pointer, message }: SchemaMismatch): string {
  return `the output does not match the schema at ${JSON.stringify(pointer)}: ${message}`;
}
