import { messageOf } from '../../../files/error-utils.ts';
import type { YamlValue } from '../../../files/yaml.ts';
import { checkNamedFile } from '../../inputs/named-file.ts';
import { PastBound } from '../../outputs/checks/checks.ts';
import { readJsonFile, type SchemaCheck, schemaCheck } from '../../outputs/output-schema.ts';
import { checkQuery } from '../../outputs/query.ts';
import { located, textIn } from '../cases/test-values.ts';
import { firstDifference, jsonOf, onlyExpected } from './json-match.ts';
import { kind, quoted, type Reading, TEXT } from './kind.ts';

const NOT_JSON = 'is not JSON';
const SCHEMA = { type: ['string', 'object', 'boolean'] };

/** What is expected of an answer as JSON. */
export const JSON_KINDS = {
  json: kind<unknown>({
    schema: { description: 'JSON; every field named must be equal, others may be anything' },
    read: value => value.json(),
    text: value => JSON.stringify(value),
    unmet: (expected, { text }) => {
      const json = jsonOf(text);
      if (json === undefined) return { message: NOT_JSON, expected: pretty(expected), actual: text };
      const different = firstDifference(expected, json.value);
      return (
        different && {
          message: `differs at ${JSON.stringify(different.pointer)}: ${different.message}`,
          expected: pretty(expected),
          actual: pretty(onlyExpected(expected, json.value)),
        }
      );
    },
  }),
  jmespath: kind<string>({
    schema: { ...TEXT, description: 'a JMESPath expression that must be true of the answer' },
    read: async value => {
      const expression = textIn(value, 'jmespath');
      await checkQuery(expression).catch((error: unknown) => {
        throw located(value, error, text => `jmespath: ${text.replace(/^--query: /u, '')}`);
      });
      return expression;
    },
    unmet: async (expression, { text, checks }) => {
      const json = jsonOf(text);
      if (json === undefined)
        return { message: `${NOT_JSON}, so ${quoted(expression)} can't be asked of it`, actual: text };
      try {
        const result = await checks.perform('select', expression, json.value);
        if (isTrue(result)) return undefined;
        return {
          message: `${quoted(expression)} gives ${JSON.stringify(result)}`,
          actual: pretty(json.value),
        };
      } catch (error) {
        if (error instanceof PastBound) throw error;
        const fault = messageOf(error).replace(/^--query: /u, '');
        return { message: `${quoted(expression)}: ${fault}`, actual: text };
      }
    },
  }),
  schema: kind<NamedSchema>({
    schema: { ...SCHEMA, description: 'a JSON Schema that the answer must match, or the file that holds it' },
    read: readSchema,
    text: ({ name }) => name,
    unmet: async ({ name, check }, { text }) => {
      const json = jsonOf(text);
      const mismatch = json === undefined ? { pointer: '', message: NOT_JSON } : await check(json.value);
      return (
        mismatch && {
          message: `does not match ${name} at ${JSON.stringify(mismatch.pointer)}: ${mismatch.message}`,
          actual: text,
        }
      );
    },
  }),
  containsJson: kind<object | boolean>({
    schema: { ...SCHEMA, description: 'true, or the JSON Schema of a JSON value somewhere in the answer' },
    read: async (value, reading) =>
      value.json() === true ? true : (await readSchema(value, reading)).schema,
    text: () => '',
    unmet: async (schema, { text, checks }) => {
      if (await checks.perform('containsJson', text, schema)) return undefined;
      return {
        message: `contains no JSON${schema === true ? '' : ' that matches the schema'}`,
        actual: text,
      };
    },
  }),
} as const;

interface NamedSchema {
  /** Its file, or what it is called in messages. */
  readonly name: string;
  readonly schema: object | boolean;
  readonly check: SchemaCheck;
}

/** A schema in a file of its own, or written where its name would stand. */
async function readSchema(value: YamlValue, { ctx, key }: Reading): Promise<NamedSchema> {
  const written = value.json();
  const isFile = !value.isMap && typeof written !== 'boolean';
  const name = isFile ? textIn(value, key) : 'the schema';
  try {
    if (isFile) checkNamedFile(ctx, name);
    const schema = isFile ? await readJsonFile(ctx, name, key) : written;
    const check = await schemaCheck(ctx, schema, isFile ? `${key}: ${name}` : key);
    return { name, schema: schema as object | boolean, check };
  } catch (error) {
    throw located(value, error, text => `${key}: ${text.replace(new RegExp(`^${key}:? `, 'u'), '')}`);
  }
}

/** What JMESPath takes for true: anything but false, null and what is empty. */
function isTrue(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '') return false;
  return typeof value === 'object' ? Object.keys(value).length > 0 : true;
}

function pretty(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}
