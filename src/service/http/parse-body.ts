import { createHash } from 'node:crypto';
import { sortKeys } from '../../files/formats/json.ts';
import { JsonLimitError, MAX_JSON, parseBoundedJson } from '../../utils/bounded-json.ts';
import { MAX_BODY_VALUES } from '../../wire/index.ts';
import { ApiError, badRequest, tooLarge } from './api-error.ts';

/** Matches an escaped NUL; an even number of backslashes before it are escaped backslashes. */
const NUL_IN_JSON = /(?<!\\)(?:\\\\)*\\u0000/;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

export interface ParsedBody {
  readonly value: unknown;
  /** Returns a SHA-256 of the body that doesn't depend on the order of its fields. */
  readonly digest: () => string;
}

/** Parses a request body, in this thread or another. Rejects with ApiError. */
export type ParseBody = (bytes: Buffer) => Promise<ParsedBody>;

/** Parses a body in this thread. @throws {ApiError} BAD_REQUEST_ERROR or PAYLOAD_TOO_LARGE_ERROR */
export function parseBodyHere(bytes: Uint8Array): ParsedBody {
  const value = parseJsonBody(bytes);
  return { value, digest: () => hashBody(value) };
}

function hashBody(body: unknown): string {
  return createHash('sha256').update(JSON.stringify(body, sortKeys)).digest('base64url');
}

/**
 * Returns the error for a text with NUL, which PostgreSQL can't store; both stores accept the same
 * texts.
 */
export function nulError(subject: string): ApiError {
  return badRequest(`${subject} holds the character NUL (U+0000), which can't be kept`);
}

/** Parses a body as JSON, whatever its content type. */
function parseJsonBody(bytes: Uint8Array): unknown {
  try {
    const json = UTF8.decode(bytes);
    if (json.includes('\\u0000') && NUL_IN_JSON.test(json)) throw nulError('the body');
    return parseBoundedJson(json, { ...MAX_JSON, maxValues: MAX_BODY_VALUES });
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (error instanceof JsonLimitError) throw tooLarge(error.message);
    throw badRequest('the body is not JSON');
  }
}
