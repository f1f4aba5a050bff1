/** What JSON from elsewhere may hold: three characters of it can take sixty bytes of memory and a microsecond. */
export interface JsonBounds {
  /** Values, those within others counted as well. */
  readonly values: number;
  /** Lists and objects within each other; default any number. */
  readonly levels?: number;
}

/** Bounds that no honest answer comes near. Writing a value out again recurses for each level. */
export const LARGEST_JSON = { levels: 500, values: 1_000_000 } as const satisfies JsonBounds;

/** JSON that goes past a bound; the message continues a sentence that begins with what it is. */
export class JsonPastBound extends Error {
  override readonly name = 'JsonPastBound';
}

/**
 * Reads JSON that may have been made to do harm. It is counted first, which takes no longer than reading it.
 *
 * @throws {SyntaxError} for text that is not JSON
 * @throws {JsonPastBound} naming the bound
 */
export function parseBoundedJson(text: string, bounds: JsonBounds): unknown {
  const { values, levels = Number.POSITIVE_INFINITY } = bounds;
  const isShort = text.length <= 2 * Math.min(values, levels);
  if (!isShort) countWithin(text, { values, levels });
  return JSON.parse(text) as unknown;
}

function countWithin(json: string, { values, levels }: Required<JsonBounds>): void {
  const marks = /["[\]{},]/g;
  let separated = 0;
  let texts = 0;
  let depth = 0;
  for (let match = marks.exec(json); match; match = marks.exec(json)) {
    const [mark] = match;
    if (mark === '"') {
      texts += 1;
      marks.lastIndex = endOfText(json, match.index) + 1;
    } else if (mark === ']' || mark === '}') {
      depth -= 1;
    } else {
      if (mark !== ',') depth += 1;
      if (!EMPTY.has(json.slice(match.index, match.index + 2))) separated += 1;
    }
    if (depth > levels) throw new JsonPastBound(`has more than ${shown(levels)} levels`);
    // Names are texts too.
    if (separated >= values || texts > 2 * values) {
      throw new JsonPastBound(`holds more than ${shown(values)} values`);
    }
  }
}

const EMPTY: ReadonlySet<string> = new Set(['[]', '{}']);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function shown(count: number): string {
  return count.toLocaleString('en');
}

/** Where the quote stands that ends the text which begins at `start`; most texts have no other in them. */
function endOfText(json: string, start: number): number {
  const next = json.indexOf('"', start + 1);
  if (next < 0) return json.length;
  if (json.charCodeAt(next - 1) !== BACKSLASH) return next;
  for (let at = start + 1; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  return json.length;
}

/** Whether a value of somebody's JSON is an object whose fields can be looked at. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What lies at a path in somebody's JSON; undefined if the path leads nowhere. */
export function valueAt(json: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce((value, key) => {
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
    return isThere ? (value as Readonly<Record<string | number, unknown>>)[key] : undefined;
  }, json);
}

/** The text that lies there; undefined if none does. */
export function textAt(json: unknown, ...path: readonly (string | number)[]): string | undefined {
  const value = valueAt(json, ...path);
  return typeof value === 'string' ? value : undefined;
}

/** The list that lies there; empty if none does. */
export function listAt(json: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const value = valueAt(json, ...path);
  return Array.isArray(value) ? value : [];
}
