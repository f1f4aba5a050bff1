import {
  JsonLimitError,
  type JsonLimits,
  MAX_JSON,
  parseBoundedJson,
} from '../../utils/bounded-json.ts';

/** A value that JSON can represent. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

export type JsonObject = { readonly [key: string]: JsonValue };

export function isJsonList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/**
 * Returns the own field of an object, or the item of a list; `constructor` and `__proto__` are
 * names like any other.
 */
export function findOwnValue(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  if (isJsonList(value) && name === 'length') return undefined;
  return (value as JsonObject)[name];
}

/** Returns the fields that have a value, for types whose optional fields may not be undefined. */
export function withoutUndefined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Defined<T>;
}

/** `T` with fields left out where it allows undefined; for a map, without undefined values. */
type Defined<T> = string extends keyof T
  ? { [K in keyof T]: Exclude<T[K], undefined> }
  : { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
      [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
    };

/** Sorts keys: a replacer for `JSON.stringify`, so that equal objects become equal texts. */
export function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns a name as a step of a JSON Pointer (RFC 6901), with its slash: `a/b` is `/a~1b`. */
export function encodePointerStep(name: string | number): string {
  return `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Returns the name that a step of a JSON Pointer stands for; the step has no slash. */
export function decodePointerStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Returns the kind of a value for messages, such as `a list` or `a number`. */
export function describeKind(value: JsonValue): string {
  if (value === null) return 'null';
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return typeof value === 'string' ? 'text' : `a ${typeof value}`;
}

/** Parses JSON; returns undefined if the text is not JSON, or beyond the limits. */
export function parseJson(text: string): JsonValue | undefined {
  const result = readJson(text);
  return 'value' in result ? result.value : undefined;
}

/** Parses JSON, or says why not in a sentence without its subject, such as `is not JSON`. */
export function readJson(
  text: string,
  limits: JsonLimits = MAX_JSON,
  parse = parseBoundedJson,
): { readonly value: JsonValue } | { readonly fault: string } {
  try {
    return { value: parse(text, limits) as JsonValue };
  } catch (error) {
    return { fault: error instanceof JsonLimitError ? error.message : 'is not JSON' };
  }
}
