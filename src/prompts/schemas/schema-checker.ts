import type { ErrorObject } from 'ajv';
import type { JsonObject, JsonValue } from '../../files/formats/json.ts';
import { getErrorMessage } from '../../utils/error-utils.ts';
import { LimitExceededError, runWithinTime } from '../../utils/limit-exceeded.ts';
import { pickFirstMismatch, type SchemaMismatch } from './mismatch.ts';

/** The reason why a value doesn't pass a check: its first mismatch, or a fault of the schema. */
export interface ValidationMismatch extends SchemaMismatch {
  /** True if the schema can't be used, so that nothing was checked. */
  readonly isSchemaFault?: true;
}

/**
 * Checks a value against a schema; returns undefined if it matches.
 *
 * @throws {LimitExceededError} if the checks take too long, as with a pattern that backtracks, or
 * if the schema refers to itself without end
 */
export type SchemaChecker = (
  schema: JsonObject,
  value: JsonValue,
) => ValidationMismatch | undefined;

/**
 * Returns a checker whose checks may take `limitMs` together. Remote references are not fetched.
 */
export async function createSchemaChecker(limitMs: number): Promise<SchemaChecker> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const createCompiler = (): SchemaCompiler =>
    new Ajv2020({
      strict: false,
      validateFormats: false,
      validateSchema: false,
      // Inlining a part that is used often would make the generated code grow.
      inlineRefs: false,
      logger: false,
    });

  const sharedCompiler = createCompiler();
  let remainingMs = limitMs;

  return (declaredSchema, value) => {
    const { $schema: _, ...schema } = declaredSchema;
    const startedAt = performance.now();
    try {
      const checkValue = (): ValidationMismatch | undefined => {
        // The shared compiler would mistake schemas with the same `$id` for each other.
        const hasOwnId = JSON.stringify(schema).includes('"$id"');
        return compileAndCheck(hasOwnId ? createCompiler() : sharedCompiler, schema, value);
      };
      return runWithinTime('checking a value against its schema', limitMs, checkValue, remainingMs);
    } finally {
      remainingMs -= performance.now() - startedAt;
    }
  };
}

/** The part of Ajv that is used here. */
interface SchemaCompiler {
  compile(schema: object): ((value: unknown) => boolean) & { errors?: ErrorObject[] | null };
}

function compileAndCheck(
  compiler: SchemaCompiler,
  schema: JsonObject,
  value: JsonValue,
): ValidationMismatch | undefined {
  let validate: ReturnType<SchemaCompiler['compile']>;
  try {
    validate = compiler.compile(schema);
  } catch (error) {
    return {
      pointer: '',
      message: `the schema can't be used: ${getErrorMessage(error)}`,
      isSchemaFault: true,
    };
  }
  try {
    return validate(value) ? undefined : pickFirstMismatch(validate.errors);
  } catch (error) {
    if (error instanceof RangeError) {
      throw new LimitExceededError('the schema refers to itself without end');
    }
    throw error;
  }
}
