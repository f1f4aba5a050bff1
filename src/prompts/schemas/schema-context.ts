import { type FilePosition, faultAt } from '../../files/formats/file-fault.ts';
import type { JsonObject } from '../../files/formats/json.ts';
import { formatNumber } from '../../utils/format-number.ts';
import { BOUNDS } from '../bounds.ts';
import type { Findings } from '../findings.ts';

/** The context in which schemas of front matter are read. */
export interface SchemaContext {
  readonly findings: Findings;
  /** Schemas that can be used by name instead of a type. */
  readonly namedSchemas: Readonly<Record<string, JsonObject>>;
  /** Counts a field. @throws {FileFault} if there are too many */
  readonly countField: (place: FilePosition) => void;
  /** Returns true once too many fields were counted. */
  readonly hasTooManyFields: () => boolean;
}

/** Returns a context that has counted no fields yet. */
export function createSchemaContext(
  findings: Findings,
  namedSchemas: Readonly<Record<string, JsonObject>> = {},
): SchemaContext {
  let fieldCount = 0;
  const countField = (place: FilePosition): void => {
    fieldCount += 1;
    if (fieldCount <= BOUNDS.schemaFields) return;
    throw faultAt(place, `a schema has at most ${formatNumber(BOUNDS.schemaFields)} fields`);
  };
  return {
    findings,
    namedSchemas,
    countField,
    hasTooManyFields: () => fieldCount > BOUNDS.schemaFields,
  };
}

/** Splits `type, description`. */
export function splitDescription(text: string): { type: string; description?: string } {
  const comma = text.indexOf(',');
  if (comma < 0) return { type: text.trim() };
  const description = text.slice(comma + 1).trim();
  return { type: text.slice(0, comma).trim(), ...(description !== '' && { description }) };
}
