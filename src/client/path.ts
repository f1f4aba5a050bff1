import { InvalidRequestError } from './errors.ts';

/** Longer than any identifier; every stage of decoding looks at the whole of it. */
const MAX_LENGTH = 512;

/**
 * Builds a request path in which each value fills exactly one segment.
 *
 * @throws {InvalidRequestError} for a value that is empty, can't be encoded, or would leave its segment
 */
export function path(literals: TemplateStringsArray, ...values: readonly string[]): string {
  return literals.reduce((built, literal, index) => built + segment(values[index - 1] ?? '') + literal);
}

function segment(value: string): string {
  if (value === '') throw new InvalidRequestError('an identifier is empty');
  if (value.length > MAX_LENGTH) {
    throw new InvalidRequestError(
      `${JSON.stringify(value.slice(0, 40))}… is not an identifier: it is too long`,
    );
  }
  if (leavesItsSegment(value)) {
    throw new InvalidRequestError(
      `${JSON.stringify(value)} is not an identifier: it would leave its path segment`,
    );
  }
  try {
    return encodeURIComponent(value);
  } catch {
    throw new InvalidRequestError(
      `${JSON.stringify(value)} is not an identifier: it is not well-formed text`,
    );
  }
}

/** Whether `path` takes the value. */
export function fillsSegment(value: string): boolean {
  try {
    return segment(value) !== '';
  } catch {
    return false;
  }
}

// An intermediary may decode more than once: `%252e` is a dot in the end.
function isDots(part: string): boolean {
  const dots = part.replace(/%(?:25)*2e/gi, '.');
  return dots === '.' || dots === '..';
}

// A server or an intermediary may decode a segment more than once, so every stage of decoding is looked at.
function leavesItsSegment(value: string): boolean {
  if (value === '.' || value === '..' || /[/\\]/.test(value)) return true;
  const decoded = decode(value);
  return decoded !== value && leavesItsSegment(decoded);
}

function decode(value: string): string {
  return value.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Whether a path, as a caller wrote it, stays below the base URL it is appended to. */
export function staysBelowBase(pathAndQuery: string): boolean {
  const [pathname = ''] = pathAndQuery.split(/[?#]/, 1);
  if (!pathname.startsWith('/') || pathname.includes('\\')) return false;
  return pathname.split('/').every(part => !isDots(part));
}
