import type { RequestEvent } from '../request-options.ts';
import type { AnswerHeaders, RequestBody } from '../transport.ts';
import { findHeader } from './parse-response.ts';
import type { Redaction } from './redaction.ts';

/** Maximum length of a body in an event. */
const MAX_BODY_LENGTH = 4096;

/** Bytes read beyond this maximum, so that a key at the cut is complete and can be masked. */
const MAX_KEY_BYTES = 4096;

/** The headers of requests and answers that events include. */
const NOTABLE_HEADERS = [
  'cli-agent',
  'action-require',
  'idempotency-key',
  'idempotency',
  'ratelimit-policy',
  'retry-after',
] as const;

/** The facts of an event besides its request, with all headers. */
export interface EventFacts
  extends Omit<RequestEvent, 'kind' | 'method' | 'url' | 'attempt' | 'headers' | 'body'> {
  readonly headers?: AnswerHeaders;
}

/**
 * Returns the facts with their notable headers only, and the beginning of the body with the key
 * masked.
 */
export async function buildEventDetails(
  { headers, ...facts }: EventFacts,
  body: RequestBody | string | undefined,
  redaction: Redaction,
): Promise<Partial<RequestEvent>> {
  return {
    ...facts,
    ...(headers && pickNotableHeaders(headers)),
    ...(body && { body: await readMaskedBeginning(body, redaction) }),
  };
}

/** Selects the headers that events include; requests and answers have different ones. */
function pickNotableHeaders(all: AnswerHeaders): Pick<RequestEvent, 'headers'> {
  const headers: Record<string, string> = {};
  for (const name of NOTABLE_HEADERS) {
    const value = findHeader(all, name);
    if (value !== undefined) headers[name] = value;
  }
  return Object.keys(headers).length === 0 ? {} : { headers };
}

/** Returns the beginning of a body. The key is masked first, because the cut might split it. */
async function readMaskedBeginning(
  body: RequestBody | string,
  redaction: Redaction,
): Promise<string> {
  const text = typeof body === 'string' ? body : await readBeginning(body);
  return redaction.redactText(text).slice(0, MAX_BODY_LENGTH);
}

async function readBeginning(body: RequestBody): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body.chunks()) {
    pieces.push(Buffer.from(piece));
    bytes += piece.byteLength;
    if (bytes >= MAX_BODY_LENGTH + MAX_KEY_BYTES) break;
  }

  return Buffer.concat(pieces).toString('utf8');
}
