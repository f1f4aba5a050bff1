import type { YamlValue } from '../../../files/formats/yaml.ts';
import { errorMessage } from '../../../utils/error-utils.ts';
import { PastBound } from '../../../utils/past-bound.ts';
import { CaseFault } from '../../core/errors.ts';
import { checkNamedFile } from '../../inputs/named-file.ts';
import { pointAt, queryFault } from '../../outputs/json-query.ts';
import {
  type OutputSchemaCheck,
  readJsonFile,
  SchemaLoop,
  schemaCheck,
} from '../../outputs/output-schema.ts';
import { atValue, faultIn, textIn, textOfPlace } from '../cases/test-values.ts';
import { type ExpectationReading, expectationKind, quotedExcerpt, TEXT_SCHEMA } from './expectation-kind.ts';
import { firstDifference, onlyExpected, parseAnswerJson } from './json-match.ts';

const SCHEMA = { type: ['string', 'object', 'boolean'] };

/** Expectations of an answer as JSON. */
export const JSON_KINDS = {
  json: expectationKind<unknown>({
    schema: { description: 'JSON; every field here must be equal; other fields are ignored' },
    read: value => value.json(),
    text: value => JSON.stringify(value),
    unmet: (expected, { text }) => {
      const json = parseAnswerJson(text);
      if ('fault' in json) return { message: json.fault, expected: indentedJson(expected), actual: text };
      const different = firstDifference(expected, json.value);
      return (
        different && {
          message: `differs at ${JSON.stringify(different.pointer)}: ${different.message}`,
          expected: indentedJson(expected),
          actual: indentedJson(onlyExpected(expected, json.value)),
        }
      );
    },
  }),
  jmespath: expectationKind<string>({
    schema: { ...TEXT_SCHEMA, description: 'a JMESPath expression that must be true of the answer' },
    read: async (value, { ctx }) => {
      const expression = textIn(value, 'jmespath');
      const fault = await queryFault(ctx, expression).catch((error: unknown) => {
        throw atValue(value, error, text => `jmespath: ${text}`);
      });
      if (fault !== undefined) {
        throw faultIn(value, `jmespath: ${fault.message}`, ...pointAt(expression, fault));
      }
      return expression;
    },
    unmet: async (expression, { text, checks }) => {
      const json = parseAnswerJson(text);
      if ('fault' in json) {
        return { message: `${json.fault}, so ${quotedExcerpt(expression)} can't be evaluated`, actual: text };
      }
      try {
        const { isTrue, json: selectedJson } = await checks.perform('select', expression, json.value, 0);
        if (isTrue) return undefined;
        return {
          message: `${quotedExcerpt(expression)} returns ${selectedJson}`,
          actual: indentedJson(json.value),
        };
      } catch (error) {
        if (error instanceof PastBound) {
          throw new CaseFault(`jmespath ${quotedExcerpt(expression)}: ${error.message}`);
        }
        return { message: `${quotedExcerpt(expression)}: ${errorMessage(error)}`, actual: text };
      }
    },
  }),
  schema: expectationKind<NamedSchema>({
    schema: {
      ...SCHEMA,
      description: 'a JSON Schema that the answer must match, or the file that contains it',
    },
    read: readExpectedSchema,
    text: ({ file = '' }) => file,
    unmet: async ({ file = 'the schema', check }, { text }) => {
      const json = parseAnswerJson(text);
      const mismatch = 'fault' in json ? { pointer: '', message: json.fault } : await check(json.value);
      return (
        mismatch && {
          message: `does not match ${file} at ${JSON.stringify(mismatch.pointer)}: ${mismatch.message}`,
          actual: text,
        }
      );
    },
  }),
  containsJson: expectationKind<ContainedJson>({
    schema: { ...SCHEMA, description: 'true, or the JSON Schema of a JSON value somewhere in the answer' },
    read: async (value, reading) => ({
      schema: value.json() === true ? true : (await readExpectedSchema(value, reading)).schema,
      isLoose: reading.isAsPromptfoo === true,
    }),
    text: () => '',
    unmet: async ({ schema, isLoose }, { text, checks }) => {
      if (await checks.perform(isLoose ? 'containsLooseJson' : 'containsJson', text, schema)) {
        return undefined;
      }
      return {
        message: `contains no JSON${schema === true ? '' : ' that matches the schema'}`,
        actual: text,
      };
    },
  }),
} as const;

interface ContainedJson {
  readonly schema: object | boolean;
  /** True to read objects as promptfoo does. */
  readonly isLoose: boolean;
}

interface NamedSchema {
  /** The file; undefined if the schema is inline. */
  readonly file: string | undefined;
  readonly schema: object | boolean;
  readonly check: OutputSchemaCheck;
}

/** Reads a schema, inline or from the file that the value names. */
async function readExpectedSchema(value: YamlValue, { ctx, key }: ExpectationReading): Promise<NamedSchema> {
  const writtenValue = value.json();
  const file = value.isMap || typeof writtenValue === 'boolean' ? undefined : textIn(value, key);
  try {
    if (file !== undefined) checkNamedFile(ctx, file);
    const schema = file === undefined ? writtenValue : await readJsonFile(ctx, file, key);
    const check = await schemaCheck(ctx, schema, file === undefined ? key : `${key}: ${file}`);
    return { file, schema: schema as object | boolean, check };
  } catch (error) {
    if (error instanceof SchemaLoop && file === undefined) {
      throw error.at(textOfPlace(value.at(error.pointer)));
    }
    throw atValue(value, error, text => `${key}: ${text.replace(new RegExp(`^${key}:? `, 'u'), '')}`);
  }
}

function indentedJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}
