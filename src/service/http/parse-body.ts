import { createHash } from 'node:crypto';
import { sortKeys } from '../../files/json.ts';
import { JsonPastBound, parseBoundedJson } from '../../wire/bounded-json.ts';
import { MAX_BODY_VALUES } from '../../wire/index.ts';
import { ApiError, badRequest, tooLarge } from './api-error.ts';

/** A request body that was read. */
export interface ParsedBody {
  readonly value: unknown;
  /** Returns the SHA-256 of the body, whatever the order of its fields. */
  readonly digest: () => string;
}

/** Reads request bodies, here or elsewhere. Rejects with ApiError. */
export type ParseBody = (bytes: Buffer) => Promise<ParsedBody>;

/** Reads a body in this thread. Rejects with ApiError: BAD_REQUEST_ERROR or PAYLOAD_TOO_LARGE_ERROR. */
export function parseBodyHere(bytes: Uint8Array): ParsedBody {
  const value = parse(bytes);
  return { value, digest: () => digestOf(value) };
}

function digestOf(body: unknown): string {
  return createHash('sha256').update(JSON.stringify(body, sortKeys)).digest('base64url');
}

/** Returns the error for a text that PostgreSQL would not keep: what one store takes the other has to take too. */
export function holdsNul(what: string): ApiError {
  return badRequest(`${what} holds the character NUL (U+0000), which can't be kept`);
}

/** An even number of backslashes before it are backslashes themselves. */
const NUL_IN_JSON = /(?<!\\)(?:\\\\)*\\u0000/;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** A body is JSON whatever its content type says. */
function parse(bytes: Uint8Array): unknown {
  try {
    const json = UTF8.decode(bytes);
    if (json.includes('\\u0000') && NUL_IN_JSON.test(json)) throw holdsNul('the body');
    return parseBoundedJson(json, { values: MAX_BODY_VALUES });
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (error instanceof JsonPastBound) throw tooLarge(error.message);
    throw badRequest('the body is not JSON');
  }
}
