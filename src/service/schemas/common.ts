import { type TSchema, Type } from 'typebox';

const UUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';

export const Uuid = Type.String({ format: 'uuid', pattern: UUID_PATTERN });
export const Time = Type.String({ format: 'date-time', description: 'ISO 8601' });
export const StringMap = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
});

/** One of a list of texts. */
export function oneOf<const T extends readonly string[]>(values: T) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...values] });
}

/** A success with this payload (interface §7). */
export function envelopeOf<T extends TSchema>(data: T) {
  return Type.Object({ status: Type.Literal('SUCCESS'), data });
}

export const ErrorEnvelopeSchema = Type.Object(
  { status: Type.String(), message: Type.String(), data: Type.Unknown() },
  { description: 'Every failure' },
);
