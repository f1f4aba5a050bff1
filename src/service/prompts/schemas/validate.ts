import { createContext, Script } from 'node:vm';
import type { ErrorObject } from 'ajv';
import { type JsonObject, type JsonValue, pointerStep } from '../../../files/json.ts';
import { BOUNDS, PastBound } from '../bounds.ts';

/** The first place where a value does not match its schema. */
export interface Mismatch {
  /** A JSON Pointer; empty for the whole value. */
  readonly pointer: string;
  /** Such as `must be integer`. */
  readonly message: string;
}

/** Checks values against schemas; undefined where one matches. */
export type SchemaChecker = (schema: JsonObject, value: JsonValue) => Mismatch | undefined;

/**
 * Checks a value against a JSON Schema; undefined where it matches. References to other documents are not fetched.
 *
 * @throws {PastBound} when it takes longer than `limitMs`, as a pattern can that tries every way to match
 * @throws {InvalidSchema} for a schema that is not one
 */
export async function findMismatch(
  schema: JsonObject,
  value: JsonValue,
  limitMs: number = BOUNDS.checkMs,
): Promise<Mismatch | undefined> {
  return (await schemaChecker(limitMs))(schema, value);
}

/** A checker whose checks may all together take `limitMs`; it throws as `findMismatch` does. */
export async function schemaChecker(limitMs: number = BOUNDS.checkMs): Promise<SchemaChecker> {
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
  return (given, value) => {
    const { $schema: _, ...schema } = given;
    const startedAt = performance.now();
    try {
      return withinTime({ limitMs, leftMs }, () => {
        // Schemas that have names of their own could be taken for each other.
        const isNamed = JSON.stringify(schema).includes('"$id"');
        const compiler = isNamed ? newCompiler() : common;
        const validate = compile(compiler, schema);
        return isMatch(validate, value) ? undefined : mismatchOf(validate.errors?.[0]);
      });
    } finally {
      leftMs -= performance.now() - startedAt;
    }
  };
}

/** A schema that can't be used, such as one that refers to another document. */
export class InvalidSchema extends Error {
  readonly code = 'INVALID_SCHEMA';
}

interface Compiler {
  compile(schema: object): ((value: unknown) => boolean) & { errors?: ErrorObject[] | null };
}

function compile(compiler: Compiler, schema: JsonObject): ReturnType<Compiler['compile']> {
  try {
    return compiler.compile(schema);
  } catch (error) {
    throw new InvalidSchema(
      `the schema can’t be used: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function isMatch(validate: (value: unknown) => boolean, value: JsonValue): boolean {
  try {
    return validate(value);
  } catch (error) {
    if (error instanceof RangeError) throw new PastBound('the schema refers to itself without end');
    throw error;
  }
}

function mismatchOf(error: ErrorObject | undefined): Mismatch {
  if (!error) return { pointer: '', message: 'does not match' };
  const { instancePath, keyword, message = 'does not match' } = error;
  const params = error.params as Record<string, unknown>;
  if (keyword === 'additionalProperties') {
    const name = String(params['additionalProperty']);
    return { pointer: instancePath + pointerStep(name), message: 'is not in the schema' };
  }
  if (keyword === 'required') {
    const name = String(params['missingProperty']);
    return { pointer: instancePath + pointerStep(name), message: 'is missing' };
  }
  const types = params['type'];
  if (keyword === 'type' && Array.isArray(types)) {
    return { pointer: instancePath, message: `must be ${types.join(' or ')}` };
  }
  const choices = params['allowedValues'];
  if (keyword === 'enum' && Array.isArray(choices)) {
    const written = choices.map(choice => JSON.stringify(choice)).join(', ');
    return { pointer: instancePath, message: `must be one of ${written}` };
  }
  return { pointer: instancePath, message };
}

/** Runs something that the engine itself stops: no bound of steps reaches into a regular expression. */
function withinTime<T>({ limitMs, leftMs }: { limitMs: number; leftMs: number }, action: () => T): T {
  const result: { value?: T } = {};
  const context = createContext({
    run: () => {
      result.value = action();
    },
  });
  try {
    new Script('run()').runInContext(context, { timeout: Math.max(1, Math.ceil(leftMs)) });
  } catch (error) {
    if (!isTimeout(error)) throw error;
    throw new PastBound(`checking a value against its schema takes longer than ${limitMs / 1000} s`);
  }
  return result.value as T;
}

const TIMEOUT_CODE = 'ERR_SCRIPT_EXECUTION_TIMEOUT';

function isTimeout(error: unknown): boolean {
  // It comes from the other context, and is not an Error of this one.
  return typeof error === 'object' && error !== null && 'code' in error && error.code === TIMEOUT_CODE;
}
