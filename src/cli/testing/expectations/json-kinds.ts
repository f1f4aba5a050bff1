import type { YamlValue } from '../../../files/formats/yaml.ts';
import { getErrorMessage } from '../../../utils/error-utils.ts';
import { LimitExceededError } from '../../../utils/limit-exceeded.ts';
import { CaseFault } from '../../core/errors.ts';
import { checkNamedFile } from '../../inputs/named-file.ts';
import { findQueryFault, formatFaultHints } from '../../outputs/json-query.ts';
import {
  createSchemaCheck,
  type OutputSchemaCheck,
  readJsonFile,
  SchemaLoopFault,
} from '../../outputs/output-schema.ts';
import { formatPlace, requireText, testFileError, withValuePlace } from '../cases/test-values.ts';
import {
  createExpectationKind,
  type ExpectationReading,
  quoteExcerpt,
  TEXT_SCHEMA,
} from './expectation-kind.ts';
import { findFirstDifference, parseAnswerJson, pickExpected } from './json-match.ts';

/** A schema that some JSON in the answer must match. */
interface ContainedJson {
  readonly schema: object | boolean;
  /** True to read objects as promptfoo does. */
  readonly isLoose: boolean;
}

/** A schema that the answer must match. */
interface NamedSchema {
  /** The file; undefined if the schema is inline. */
  readonly file: string | undefined;
  readonly schema: object | boolean;
  readonly check: OutputSchemaCheck;
}

/** The indent of JSON on one line. */
const COMPACT_INDENT = 0;

/** The values that stand for a schema: its file, or the schema itself. */
const SCHEMA_VALUE_TYPES = { type: ['string', 'object', 'boolean'] };

/** Expectations of an answer as JSON. */
export const JSON_KINDS = {
  json: createExpectationKind<unknown>({
    schema: { description: 'JSON; every field here must be equal; other fields are ignored' },
    read: value => value.toJson(),
    formatText: value => JSON.stringify(value),
    findMismatch: (expected, { text }) => {
      const json = parseAnswerJson(text);
      if ('fault' in json) {
        return { message: json.fault, expected: formatIndentedJson(expected), actual: text };
      }

      const difference = findFirstDifference(expected, json.value);
      return (
        difference && {
          message: `differs at ${JSON.stringify(difference.pointer)}: ${difference.message}`,
          expected: formatIndentedJson(expected),
          actual: formatIndentedJson(pickExpected(expected, json.value)),
        }
      );
    },
  }),
  jmespath: createExpectationKind<string>({
    schema: {
      ...TEXT_SCHEMA,
      description: 'a JMESPath expression that must be true of the answer',
    },
    read: async (value, { ctx }) => {
      const expression = requireText(value, 'jmespath');
      const fault = await findQueryFault(ctx, expression).catch((error: unknown) => {
        throw withValuePlace(value, error, text => `jmespath: ${text}`);
      });
      if (fault !== undefined) {
        throw testFileError(
          value,
          `jmespath: ${fault.message}`,
          ...formatFaultHints(expression, fault),
        );
      }

      return expression;
    },
    findMismatch: async (expression, { text, checks }) => {
      const json = parseAnswerJson(text);
      if ('fault' in json) {
        return {
          message: `${json.fault}, so ${quoteExcerpt(expression)} can't be evaluated`,
          actual: text,
        };
      }
      try {
        const { isTruthy, json: selectedJson } = await checks.perform(
          'evaluateExpression',
          expression,
          json.value,
          COMPACT_INDENT,
        );
        if (isTruthy) return undefined;
        return {
          message: `${quoteExcerpt(expression)} returns ${selectedJson}`,
          actual: formatIndentedJson(json.value),
        };
      } catch (error) {
        if (error instanceof LimitExceededError) {
          throw new CaseFault(`jmespath ${quoteExcerpt(expression)}: ${error.message}`);
        }
        return { message: `${quoteExcerpt(expression)}: ${getErrorMessage(error)}`, actual: text };
      }
    },
  }),
  schema: createExpectationKind<NamedSchema>({
    schema: {
      ...SCHEMA_VALUE_TYPES,
      description: 'a JSON Schema that the answer must match, or the file that contains it',
    },
    read: readExpectedSchema,
    formatText: ({ file = '' }) => file,
    findMismatch: async ({ file = 'the schema', check }, { text }) => {
      const json = parseAnswerJson(text);
      const mismatch =
        'fault' in json ? { pointer: '', message: json.fault } : await check(json.value);
      return (
        mismatch && {
          message: `does not match ${file} at ${JSON.stringify(mismatch.pointer)}: ${mismatch.message}`,
          actual: text,
        }
      );
    },
  }),
  containsJson: createExpectationKind<ContainedJson>({
    schema: {
      ...SCHEMA_VALUE_TYPES,
      description: 'true, or the JSON Schema of a JSON value somewhere in the answer',
    },
    read: async (value, reading) => ({
      schema: value.toJson() === true ? true : (await readExpectedSchema(value, reading)).schema,
      isLoose: reading.isAsPromptfoo === true,
    }),
    formatText: () => '',
    findMismatch: async ({ schema, isLoose }, { text, checks }) => {
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

/** Reads a schema, inline or from the file that the value names. */
async function readExpectedSchema(
  value: YamlValue,
  { ctx, key }: ExpectationReading,
): Promise<NamedSchema> {
  const inlineSchema = value.toJson();
  const file =
    value.isMap || typeof inlineSchema === 'boolean' ? undefined : requireText(value, key);
  try {
    if (file !== undefined) checkNamedFile(ctx, file);
    const schema = file === undefined ? inlineSchema : await readJsonFile(ctx, file, key);
    const check = await createSchemaCheck(
      ctx,
      schema,
      file === undefined ? key : `${key}: ${file}`,
    );
    return { file, schema: schema as object | boolean, check };
  } catch (error) {
    if (error instanceof SchemaLoopFault && file === undefined) {
      throw error.withPlace(formatPlace(value.findAt(error.pointer)));
    }
    throw withValuePlace(
      value,
      error,
      text => `${key}: ${text.replace(new RegExp(`^${key}:? `, 'u'), '')}`,
    );
  }
}

function formatIndentedJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}
