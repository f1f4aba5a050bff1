import type { ErrorObject } from 'ajv';
import { PastBound, withinTime } from '../../files/bounds/past-bound.ts';
import { messageOf } from '../../files/error-utils.ts';
import type { JsonObject, JsonValue } from '../../files/json.ts';
import { mismatchOf, type SchemaMismatch } from './mismatch.ts';

/** The first place where a value does not match its schema. */
export interface Mismatch extends SchemaMismatch {
  /** The schema can't be used, so nothing was checked. */
  readonly isOfSchema?: true;
}

/** Checks values against schemas; undefined where one matches. */
export type SchemaChecker = (schema: JsonObject, value: JsonValue) => Mismatch | undefined;

/**
 * A checker whose checks may all together take `limitMs`. References to other documents are not fetched. It throws
 * PastBound when that is not enough, as for a pattern that tries every way to match.
 */
export async function schemaChecker(limitMs: number): Promise<SchemaChecker> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const newCompiler = (): Compiler =>
    new Ajv2020({
      strict: false,
      validateFormats: false,
      validateSchema: false,
      // Written out in each place, a part that is used often would make the code grow.
      inlineRefs: false,
      logger: false,
    });
  const common = newCompiler();
  let leftMs = limitMs;
  return (declared, value) => {
    const { $schema: _, ...schema } = declared;
    const startedAt = performance.now();
    try {
      const checkOne = (): Mismatch | undefined => {
        // Schemas that have names of their own could be taken for each other.
        const isNamed = JSON.stringify(schema).includes('"$id"');
        return check(isNamed ? newCompiler() : common, schema, value);
      };
      return withinTime('checking a value against its schema', limitMs, checkOne, leftMs);
    } finally {
      leftMs -= performance.now() - startedAt;
    }
  };
}

interface Compiler {
  compile(schema: object): ((value: unknown) => boolean) & { errors?: ErrorObject[] | null };
}

function check(compiler: Compiler, schema: JsonObject, value: JsonValue): Mismatch | undefined {
  let validate: ReturnType<Compiler['compile']>;
  try {
    validate = compiler.compile(schema);
  } catch (error) {
    return { pointer: '', message: `the schema can't be used: ${messageOf(error)}`, isOfSchema: true };
  }
  try {
    return validate(value) ? undefined : mismatchOf(validate.errors);
  } catch (error) {
    if (error instanceof RangeError) throw new PastBound('the schema refers to itself without end');
    throw error;
  }
}
