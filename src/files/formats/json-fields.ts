import { readTextAt } from '../../utils/bounded-json.ts';

/** Returns the non-empty string under the first key that has one. */
export function findFirstText(json: unknown, ...keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const text = readTextAt(json, key);
    if (text !== undefined && text !== '') return text;
  }
  return undefined;
}

/** Returns a whole number of at least 0; undefined for anything else. */
export function toCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Returns a string, number or boolean as text; undefined for anything else. */
export function formatScalar(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** Returns a string unchanged, and any other value except undefined as JSON. */
export function toTextOrJson(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns a string unchanged, an empty one for null and undefined, and any other value as JSON. */
export function toTextOrEmpty(value: unknown): string {
  return value === undefined || value === null ? '' : toTextOrJson(value);
}

/** Returns the data of an output as text; as JSON if a service sent anything but text. */
export function formatOutputData(data: unknown): string {
  return data === null ? 'null' : toTextOrEmpty(data);
}

/** Compares map entries by key, independent of the locale. */
export function compareByKey(
  [one]: readonly [string, string],
  [other]: readonly [string, string],
): number {
  return one < other ? -1 : Number(one > other);
}
