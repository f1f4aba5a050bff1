import { isJsonObject as isObject } from '../../wire/bounded-json.ts';

/** A JSON object; only its own properties count, whatever they are called. */
export type JsonObject = Readonly<Record<string, unknown>>;

export { isObject };

/** An own property, so that `constructor` is there only if somebody sent it. */
export function own(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** A non-empty text under the first of the keys that has one. */
export function textUnder(value: unknown, ...keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const field = own(value, key);
    if (typeof field === 'string' && field !== '') return field;
  }
  return undefined;
}

/** Texts, numbers and booleans as text; undefined for anything else. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** The elements of a list; none where it is not a list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A whole number of at least 0; undefined for anything else. */
export function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** What a service sent for a field, as text, whatever it sent; nothing for null and what is missing. */
export function fieldText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** Sorts the entries of a map whatever the language. */
export function byKey([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : Number(one > other);
}
