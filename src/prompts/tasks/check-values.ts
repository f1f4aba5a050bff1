import type { JsonObject, JsonValue } from '../../files/formats/json.ts';
import { LimitExceededError } from '../../utils/limit-exceeded.ts';
import { BOUNDS } from '../bounds.ts';

/** The reason that a value does not match its schema, or could not be checked. */
export interface ValueFault {
  /** A predicate to follow the name of the value. */
  readonly message: string;
  /** False if the value could not be checked. */
  readonly isMismatch: boolean;
}

/** Checks values; returns for each the mismatch, or undefined if it matches its schema. */
export async function checkValues(
  work: readonly { readonly schema: JsonObject; readonly value: JsonValue }[],
  { checkMs: limitMs }: { readonly checkMs: number },
): Promise<(ValueFault | undefined)[]> {
  const { createSchemaChecker } = await import('../schemas/schema-checker.ts');
  const check = await createSchemaChecker(limitMs);
  return work.map(({ schema, value }) => {
    try {
      const { pointer, message, isSchemaFault } = check(schema, value) ?? {};
      if (message === undefined) return undefined;
      if (isSchemaFault) return { message, isMismatch: false };
      return { message: `does not match its schema at "${pointer}": ${message}`, isMismatch: true };
    } catch (error) {
      // With less than the full limit, the caller tries again in a process that has it.
      const isFinal = error instanceof LimitExceededError && limitMs >= BOUNDS.checkMs;
      if (!isFinal) throw error;
      return { message: error.message, isMismatch: false };
    }
  });
}
