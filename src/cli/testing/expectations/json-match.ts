import { encodePointerStep, readJson } from '../../../files/formats/json.ts';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import { findDefined } from '../../../utils/find-defined.ts';
import { shorten } from '../../../utils/shorten.ts';

const CODE_FENCE = '```';

/** Maximum length of a value in a message, in characters. */
const MAX_SHOWN_JSON_LENGTH = 80;

/** Parses the JSON of an answer, bare or alone in a code fence. */
export function parseAnswerJson(text: string): ReturnType<typeof readJson> {
  const json = readJson(text);
  if (!('fault' in json)) return json;
  const fencedText = findFencedText(text.trim());
  return fencedText === undefined ? json : readJson(fencedText);
}

/** Returns the text in a code fence, such as ```` ```json ````; undefined if it is not alone. */
function findFencedText(text: string): string | undefined {
  const [opening] = /^```\w*[ \t]*\r?\n/u.exec(text) ?? [];
  if (opening === undefined || !text.endsWith(CODE_FENCE)) return undefined;
  if (text.length < opening.length + CODE_FENCE.length) return undefined;
  return text.slice(opening.length, -CODE_FENCE.length);
}

/** The place of a difference, as a JSON Pointer, and what differs there. */
export interface JsonDifference {
  readonly pointer: string;
  readonly message: string;
}

/** Returns the first expected field that differs; ignores fields that are not expected. */
export function findFirstDifference(
  expected: unknown,
  actual: unknown,
  pointer = '',
): JsonDifference | undefined {
  if (isJsonObject(expected) && isJsonObject(actual)) {
    return findDefined(Object.entries(expected), ([key, value]) => {
      const innerPointer = pointer + encodePointerStep(key);
      return Object.hasOwn(actual, key)
        ? findFirstDifference(value, actual[key], innerPointer)
        : { pointer: innerPointer, message: 'it is missing' };
    });
  }
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
    return findDefined(expected.entries(), ([index, value]) =>
      findFirstDifference(value, actual[index], `${pointer}/${index}`),
    );
  }
  return Object.is(expected, actual) || (expected === 0 && actual === 0)
    ? undefined
    : { pointer, message: `expected ${formatShortJson(expected)}, got ${formatShortJson(actual)}` };
}

/** Returns the expected fields with their actual values; leaves out missing fields. */
export function pickExpected(expected: unknown, actual: unknown): unknown {
  if (!isJsonObject(expected) || !isJsonObject(actual)) {
    return actual;
  }
  const keys = Object.keys(expected).filter(key => Object.hasOwn(actual, key));
  return Object.fromEntries(keys.map(key => [key, pickExpected(expected[key], actual[key])]));
}

function formatShortJson(value: unknown): string {
  return shorten(JSON.stringify(value), MAX_SHOWN_JSON_LENGTH);
}
