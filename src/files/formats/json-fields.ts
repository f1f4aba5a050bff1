import { textAt } from '../../utils/bounded-json.ts';

/** Returns the non-empty string under the first key that has one. */
export function firstText(json: unknown, ...keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const text = textAt(json, key);
    if (text !== undefined && text !== '') return text;
  }
  return undefined;
}

/** Returns a whole number of at least 0; undefined for anything else. */
export function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Returns a string, number or boolean as text; undefined for anything else. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** Returns a string unchanged, and any other value as JSON. */
export function textOrJson(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns a string unchanged, an empty one for null and undefined, and any other value as JSON. */
export function textOrNothing(value: unknown): string {
  return value === undefined || value === null ? '' : textOrJson(value);
}

/** Returns the data of an output as text; as JSON if a service sent anything but text. */
export function dataText(data: unknown): string {
  return data === null ? 'null' : textOrNothing(data);
}

/** Compares map entries by key, independent of the locale. */
export function byKey([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : Number(one > other);
}
