import { isJsonObject, valueAt } from '../../wire/bounded-json.ts';

export type { UncheckedObject } from '../../wire/bounded-json.ts';
export { isJsonObject };

/** Returns the non-empty text under the first key that has one. */
export function textUnder(value: unknown, ...keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const field = valueAt(value, key);
    if (typeof field === 'string' && field !== '') return field;
  }
  return undefined;
}

/** Returns a text, number or boolean as text; undefined for anything else. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** Returns a list; empty if the value is not a list. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a whole number of at least 0; undefined for anything else. */
export function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Returns any value that a service sent for a field as text; empty for null or a missing field. */
export function fieldText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** Returns the data of an output as text; as JSON if a service sent anything but text. */
export function dataText(data: unknown): string {
  return data === null ? 'null' : fieldText(data);
}

/** Compares map entries by key, independent of the locale. */
export function byKey([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : Number(one > other);
}
