import { InvalidRequestError } from './errors.ts';

/** Longer than any identifier; bounded because every decoding stage scans the whole value. */
const MAX_PATH_PART_LENGTH = 512;

/**
 * Builds a request path in which each value fills exactly one segment.
 *
 * @throws {InvalidRequestError} for a value that is empty, can't be encoded, or would leave its
 * segment
 */
export function urlPath(literals: TemplateStringsArray, ...values: readonly string[]): string {
  return literals.reduce(
    (builtPath, literal, index) => builtPath + encodeSegment(values[index - 1] ?? '') + literal,
  );
}

function encodeSegment(value: string): string {
  if (value === '') throw new InvalidRequestError('an identifier must not be empty');

  if (value.length > MAX_PATH_PART_LENGTH) {
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

/** Returns true if `urlPath` accepts the value. */
export function fillsSegment(value: string): boolean {
  try {
    return encodeSegment(value) !== '';
  } catch {
    return false;
  }
}

// A server or an intermediary may decode a segment more than once, so every decoding stage is
// checked.
function leavesItsSegment(value: string): boolean {
  if (value === '.' || value === '..' || /[/\\]/.test(value)) return true;
  const decoded = decodeOnce(value);
  return decoded !== value && leavesItsSegment(decoded);
}

function decodeOnce(value: string): string {
  return value.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
