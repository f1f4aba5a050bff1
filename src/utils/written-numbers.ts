import { type JsonLimits, parseBoundedJson, replaceOutsideStrings } from './bounded-json.ts';

/**
 * Parses JSON as `parseBoundedJson` does, and keeps how a number is written if JavaScript can't
 * hold it exactly: more digits than 2^53 has, or a larger exponent. `stringifyAsWritten` writes
 * such numbers as they came.
 */
export function parseKeepingNumbers(text: string, limits: JsonLimits): unknown {
  const value = parseBoundedJson(text, limits);
  const mark = crypto.randomUUID();
  const marked = markNumbers(text, mark);
  if (!marked.includes(mark)) return value;

  return JSON.parse(marked, function keepNumber(this: object, key, field: unknown) {
    if (typeof field !== 'string' || !field.startsWith(mark)) return field;
    const source = field.slice(mark.length);
    Object.assign(this, { [createSourceSymbol(key)]: source });
    return Number(source);
  }) as unknown;
}

/**
 * Returns a value as JSON, with the numbers that `parseKeepingNumbers` kept as they were written.
 */
export function stringifyAsWritten(value: unknown, indent = 0): string {
  const mark = crypto.randomUUID();
  let hasMarks = false;
  const text = JSON.stringify(
    value,
    function markNumber(this: object, key, field: unknown) {
      if (typeof field !== 'number' || Number.isSafeInteger(field)) return field;
      const source: unknown = Reflect.get(this, createSourceSymbol(key));
      if (typeof source !== 'string' || !Object.is(Number(source), field)) return field;
      hasMarks = true;
      return mark + source;
    },
    indent,
  );
  return hasMarks ? text.replaceAll(new RegExp(`"${mark}([^"]*)"`, 'gu'), '$1') : text;
}

/**
 * The property, copied with the others of an object, that says how the number in field `key` is
 * written.
 */
function createSourceSymbol(key: string): symbol {
  return Symbol.for(`promptrun: ${key} as written`);
}

/** Replaces the inexact numbers of valid JSON by strings that begin with a mark. */
function markNumbers(json: string, mark: string): string {
  return replaceOutsideStrings(json, /-?\d[\d.eE+-]*/gu, number =>
    isExact(number) ? number : `"${mark}${number}"`,
  );
}

function isExact(source: string): boolean {
  const [digits = ''] = source.split(/e/iu);
  const isShort = digits.replace(/\D/gu, '').length <= 15;
  return Number.isFinite(Number(source)) && (isShort || String(Number(source)) === source);
}
