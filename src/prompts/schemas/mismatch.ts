import type { ErrorObject } from 'ajv';
import { encodePointerStep } from '../../files/formats/json.ts';

/** The first mismatch between a value and a JSON Schema. */
export interface SchemaMismatch {
  /** A JSON Pointer; empty for the whole value. */
  readonly pointer: string;
  readonly message: string;
}

/** Returns the first of Ajv's errors, with a message that names the expected value. */
export function pickFirstMismatch(
  errors: readonly ErrorObject[] | null | undefined,
): SchemaMismatch {
  const [error] = errors ?? [];
  const { instancePath = '', keyword, message = 'does not match' } = error ?? {};
  const params: Record<string, unknown> = error?.params ?? {};
  if (keyword === 'additionalProperties') {
    const name = String(params['additionalProperty']);
    return { pointer: instancePath + encodePointerStep(name), message: 'is not in the schema' };
  }

  if (keyword === 'required') {
    const name = String(params['missingProperty']);
    return { pointer: instancePath + encodePointerStep(name), message: 'is missing' };
  }

  const types = params['type'];
  if (keyword === 'type' && Array.isArray(types)) {
    return { pointer: instancePath, message: `must be ${types.join(' or ')}` };
  }

  const choices = params['allowedValues'];
  if (keyword === 'enum' && Array.isArray(choices)) {
    const list = choices.map(choice => JSON.stringify(choice)).join(', ');
    return { pointer: instancePath, message: `must be one of ${list}` };
  }

  return { pointer: instancePath, message };
}
