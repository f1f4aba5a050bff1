import { type JsonBounds, JsonPastBound, LARGEST_JSON, parseBoundedJson } from '../wire/bounded-json.ts';

/** A value that JSON can write. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

export type JsonObject = { readonly [key: string]: JsonValue };

export function isJsonList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** What an object has under a name, or a list at an index; `constructor` and `__proto__` are names like any other. */
export function ownValue(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as JsonObject)[name];
}

/** For `JSON.stringify`: the order in which the fields of an object came makes no other text of it. */
export function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A step of a JSON Pointer (RFC 6901). */
export function pointerStep(name: string | number): string {
  return `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** What kind of value this is, for messages: `a list`, `a number`. */
export function kindOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}

/** Parses JSON; returns undefined if the text is not JSON, or too much of it. */
export function parseJson(text: string): JsonValue | undefined {
  const read = readJson(text);
  return 'value' in read ? read.value : undefined;
}

/** Parses JSON; a fault continues a sentence that begins with what the text is. */
export function readJson(
  text: string,
  bounds: JsonBounds = LARGEST_JSON,
): { readonly value: JsonValue } | { readonly fault: string } {
  try {
    return { value: parseBoundedJson(text, bounds) as JsonValue };
  } catch (error) {
    return { fault: error instanceof JsonPastBound ? error.message : 'is not JSON' };
  }
}

/** Returns a text as it is, and any other value as JSON. */
export function textOrJson(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Does the same, with an empty text for null and for what is not there. */
export function textOrNothing(value: JsonValue | undefined): string {
  return value === undefined || value === null ? '' : textOrJson(value);
}
