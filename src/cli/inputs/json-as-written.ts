import { Literal } from './literal.ts';

/** The key under which a literal stands until it is read; no key that a person writes holds a NUL. */
const MARK = '\u0000';

/** JSON with every number and boolean as a `Literal`; undefined where the source is not JSON. */
export function parseJsonAsWritten(source: string): unknown {
  try {
    JSON.parse(source);
  } catch {
    return undefined;
  }
  return JSON.parse(markLiterals(source), (_, value: unknown) => literalOf(value) ?? value) as unknown;
}

function literalOf(value: unknown): Literal | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, MARK)) return undefined;
  return new Literal(String((value as Record<string, unknown>)[MARK]));
}

/** Wraps the numbers and booleans of valid JSON, which stand anywhere but inside strings. */
function markLiterals(json: string): string {
  let marked = '';
  let from = 0;
  while (from < json.length) {
    const start = json.indexOf('"', from);
    const end = start === -1 ? json.length : endOfString(json, start);
    const between = json.slice(from, start === -1 ? json.length : start);
    marked += between.replace(/-?\d[\d.eE+-]*|true|false/gu, String.raw`{"\u0000":"$&"}`);
    if (start !== -1) marked += json.slice(start, end);
    from = end;
  }
  return marked;
}

/** The index after the quote that ends the string starting at `start`. */
function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end + 1;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}
