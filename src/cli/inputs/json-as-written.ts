import { randomUUID } from 'node:crypto';
import {
  isJsonObject,
  JsonLimitError,
  MAX_JSON,
  parseBoundedJson,
  replaceOutsideStrings,
} from '../../utils/bounded-json.ts';

/** A number or boolean of JSON or YAML as written: `1.50` is not `1.5`, and no digit is lost. */
export class Literal {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  /** The value; text for a number that JSON does not have, such as `.inf`. */
  get value(): number | boolean | string {
    const text = this.source.toLowerCase();
    if (text === 'true' || text === 'false') return text === 'true';
    const number = Number(this.source);
    return Number.isFinite(number) ? number : this.source;
  }
}

/** Matches `true`, `false` and the numbers of JSON, such as `-1.50e+3`, and nothing else. */
const JSON_LITERAL = /^(?:true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/u;

/** Matches each number and boolean outside the strings of valid JSON. */
const UNQUOTED_LITERAL = /-?\d[\d.eE+-]*|true|false/gu;

/**
 * More values than any inputs have; aliases of aliases in a few lines of YAML can expand to more.
 */
const MAX_LITERAL_VALUES = 100_000;

/**
 * Returns the text to send for a value: numbers and booleans as written, lists and objects as JSON.
 * Returns undefined for null, and for a value of more than 100,000 parts.
 */
export function renderInputText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (value instanceof Literal) return value.source;
  if (!isJsonObject(value) && !Array.isArray(value)) return undefined;
  return toJsonText(value, { remainingValues: MAX_LITERAL_VALUES });
}

function toJsonText(value: unknown, budget: { remainingValues: number }): string | undefined {
  budget.remainingValues -= 1;
  if (budget.remainingValues < 0) return undefined;
  if (value instanceof Literal) return toJsonLiteral(value);

  if (Array.isArray(value)) {
    const parts = value.map(item => toJsonText(item, budget));
    return parts.includes(undefined) ? undefined : `[${parts.join(',')}]`;
  }

  if (!isJsonObject(value)) return JSON.stringify(value ?? null);

  const parts: string[] = [];
  for (const [key, field] of Object.entries(value)) {
    const text = toJsonText(field, budget);
    if (text === undefined) return undefined;
    parts.push(`${JSON.stringify(key)}:${text}`);
  }

  return `{${parts.join(',')}}`;
}

/** Returns the JSON form of a literal; YAML also has `0x1F`, `+1`, `True` and `.inf`. */
function toJsonLiteral({ source, value }: Literal): string {
  return JSON_LITERAL.test(source) ? source : JSON.stringify(value);
}

/**
 * Parses JSON with every number and boolean as a `Literal`; undefined if the source is not JSON.
 *
 * @throws {JsonLimitError} for JSON that is nested too deeply to be visited, or has too many values
 */
export function parseJsonAsWritten(source: string): unknown {
  try {
    parseBoundedJson(source, MAX_JSON);
  } catch (error) {
    if (error instanceof JsonLimitError && isJson(source)) throw error;
    return undefined;
  }

  // Each literal becomes an object with its text under a key that nothing else has.
  const literalKey = `a literal ${randomUUID()}`;
  const markedText = replaceOutsideStrings(
    source,
    UNQUOTED_LITERAL,
    literal => `{${JSON.stringify(literalKey)}:"${literal}"}`,
  );

  return JSON.parse(
    markedText,
    (_, value: unknown) => unmarkLiteral(value, literalKey) ?? value,
  ) as unknown;
}

function isJson(source: string): boolean {
  try {
    JSON.parse(source);
    return true;
  } catch {
    return false;
  }
}

function unmarkLiteral(value: unknown, literalKey: string): Literal | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, literalKey)) {
    return undefined;
  }
  return new Literal(String((value as Record<string, unknown>)[literalKey]));
}
