import { formatNumber } from './format-number.ts';

/**
 * Limits on foreign JSON. Three characters of it can take sixty bytes of memory and a microsecond.
 */
export interface JsonLimits {
  /** Maximum number of values, nested ones included. */
  readonly maxValues: number;
  /** Maximum depth of lists and objects; unlimited by default. */
  readonly maxLevels?: number;
}

/** Bounds that no honest answer approaches. Serialising a value recurses for each level. */
export const MAX_JSON = { maxLevels: 500, maxValues: 1_000_000 } as const satisfies JsonLimits;

const EMPTY_CONTAINERS: ReadonlySet<string> = new Set(['[]', '{}']);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** JSON exceeds a limit. The message is a predicate, such as "has more than 500 levels". */
export class JsonLimitError extends Error {
  override readonly name = 'JsonLimitError';
}

/**
 * Parses JSON that may be malicious. Counts its values and levels first, which takes no longer than
 * parsing.
 *
 * @throws {SyntaxError} for text that is not JSON
 * @throws {JsonLimitError} that names the limit
 */
export function parseBoundedJson(text: string, limits: JsonLimits): unknown {
  const { maxValues, maxLevels = Number.POSITIVE_INFINITY } = limits;
  // Each value takes at least a character and a separator, each level two brackets.
  const isShort = text.length <= 2 * Math.min(maxValues, maxLevels);
  if (!isShort) requireWithinLimits(text, { maxValues, maxLevels });
  return JSON.parse(text) as unknown;
}

/** @throws {JsonLimitError} that names the limit */
function requireWithinLimits(json: string, { maxValues, maxLevels }: Required<JsonLimits>): void {
  const punctuation = /["[\]{},]/g;
  let separatorCount = 0;
  let stringCount = 0;
  let depth = 0;

  for (let match = punctuation.exec(json); match; match = punctuation.exec(json)) {
    const [character] = match;
    if (character === '"') {
      stringCount += 1;
      punctuation.lastIndex = findStringEnd(json, match.index) + 1;
    } else if (character === ']' || character === '}') {
      depth -= 1;
    } else {
      if (character !== ',') depth += 1;
      if (!EMPTY_CONTAINERS.has(json.slice(match.index, match.index + 2))) separatorCount += 1;
    }

    if (depth > maxLevels) {
      throw new JsonLimitError(`has more than ${formatNumber(maxLevels)} levels`);
    }

    // Field names are strings too.
    if (separatorCount >= maxValues || stringCount > 2 * maxValues) {
      throw new JsonLimitError(`holds more than ${formatNumber(maxValues)} values`);
    }
  }

  forgetLastMatch();
}

/**
 * Returns the index of the quote that ends the string starting at `start`; the first quote usually
 * does.
 */
function findStringEnd(json: string, start: number): number {
  const next = json.indexOf('"', start + 1);
  if (next < 0) return json.length;
  if (json.charCodeAt(next - 1) !== BACKSLASH) return next;

  for (let index = start + 1; index < json.length; index++) {
    const code = json.charCodeAt(index);
    if (code === QUOTE) return index;
    if (code === BACKSLASH) index += 1;
  }

  return json.length;
}

/**
 * Makes JavaScript forget the text of the last match, which would stay in memory until the next
 * match of any pattern.
 */
function forgetLastMatch(): void {
  /./.test('x');
}

/** Replaces what matches a pattern in valid JSON, outside strings. */
export function replaceOutsideStrings(
  json: string,
  pattern: RegExp,
  replace: (part: string) => string,
): string {
  // With escaped quotes rewritten, every second part between quotes is the content of a string.
  const parts = json
    .replace(/\\["\\]/gu, escape => (escape === '\\"' ? '\\u0022' : '\\u005c'))
    .split('"');
  return parts
    .map((part, index) => (index % 2 === 1 ? part : part.replace(pattern, replace)))
    .join('"');
}

/** A JSON object whose fields may have any type; only its own properties count. */
export type UncheckedObject = Readonly<Record<string, unknown>>;

/** Returns true if a parsed JSON value is an object, not a list or null. */
export function isJsonObject(value: unknown): value is UncheckedObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value at a path in parsed JSON; undefined if there is none. */
export function readValueAt(json: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce((value, key) => {
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
    return isThere ? (value as Readonly<Record<string | number, unknown>>)[key] : undefined;
  }, json);
}

/** Returns the string at a path; undefined if there is none. */
export function readTextAt(
  json: unknown,
  ...path: readonly (string | number)[]
): string | undefined {
  const value = readValueAt(json, ...path);
  return typeof value === 'string' ? value : undefined;
}

/** Returns the list at a path; empty if there is none. */
export function readListAt(
  json: unknown,
  ...path: readonly (string | number)[]
): readonly unknown[] {
  const value = readValueAt(json, ...path);
  return Array.isArray(value) ? value : [];
}
