import { faultOf } from '../schemas/check.ts';
import type { Schema } from '../schemas/schema.ts';
import { badRequest, invalid } from './api-error.ts';

/** The query as the schema wants it: defaults filled in, integers read. Throws VALIDATION_ERROR. */
export function readQuery(schema: Schema, search: string): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (field.default !== undefined) query[name] = field.default;
  }
  const sent = new URLSearchParams(search);
  for (const name of new Set(sent.keys())) {
    const values = sent.getAll(name);
    const field = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : undefined;
    if (field) query[name] = values.length === 1 ? valueOf(field, values[0] ?? '') : values;
  }
  return checked(schema, query);
}

/** Throws VALIDATION_ERROR naming the first fault. */
export function checked<T>(schema: Schema, value: T): T {
  const fault = faultOf(schema, value);
  if (fault !== undefined) throw invalid(fault);
  return value;
}

/** A body is JSON whatever its content type says. Throws BAD_REQUEST_ERROR for any other. */
export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw badRequest('the body is not JSON');
  }
}

/** An integer written in any other way stays a text, to be refused. */
function valueOf(field: Schema, text: string): unknown {
  return field.type === 'integer' && /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}
