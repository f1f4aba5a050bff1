import { parse } from 'yaml';

/** Maximum length of an object, in characters. */
const MAX_OBJECT_LENGTH = 100_000;

/**
 * Yields the objects in a text as promptfoo reads them: anything between braces that is YAML, with
 * `//` for comments. Closes the braces of one that is cut off.
 */
export function* iterateLooseObjects(text: string): Generator<object> {
  let start = text.indexOf('{');
  while (start !== -1) {
    const { end, openBraceCount } = findObjectEnd(text, start);
    const value = parseLooseObject(text.slice(start, end) + '}'.repeat(openBraceCount));
    if (value !== undefined) yield value;
    start = text.indexOf('{', value === undefined ? start + 1 : end);
  }
}

/**
 * Returns the place where the braces from `start` are closed or the text ends, and the number of
 * braces that are open there.
 */
function findObjectEnd(
  text: string,
  start: number,
): { readonly end: number; readonly openBraceCount: number } {
  const limit = Math.min(start + MAX_OBJECT_LENGTH, text.length);
  let openBraceCount = 0;
  for (let index = start; index < limit; index += 1) {
    if (text[index] === '{') openBraceCount += 1;
    else if (text[index] === '}') openBraceCount -= 1;
    if (openBraceCount === 0) return { end: index + 1, openBraceCount };
  }

  return { end: limit, openBraceCount };
}

/** Matches quoted text, which may contain slashes, and the beginning of a comment. */
const STRING_OR_COMMENT = /"(?:[^"\\\n]|\\.)*"?|(?<=[\s,{[])\/\//gu;

function parseLooseObject(text: string): object | undefined {
  try {
    const yaml = text.replaceAll(STRING_OR_COMMENT, part => (part === '//' ? ' #' : part));
    const value: unknown = parse(yaml, { logLevel: 'error', uniqueKeys: false });
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
