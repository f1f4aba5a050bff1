import { headerOf } from './parse-response.ts';
import type { RequestEvent } from './request.ts';
import type { AnswerHeaders, RequestBody } from './transport.ts';

/** How much of a body an event holds. */
const MAX_SHOWN_BYTES = 4096;

/** The headers of requests and answers that events tell. */
const NOTABLE_HEADERS = [
  'cli-agent',
  'action-require',
  'idempotency-key',
  'idempotency',
  'ratelimit-policy',
  'retry-after',
] as const;

/** The headers that events tell; those of a request and those of an answer have different names. */
export function notable(all: AnswerHeaders): Pick<RequestEvent, 'headers'> {
  const headers: Record<string, string> = {};
  for (const name of NOTABLE_HEADERS) {
    const value = headerOf(all, name);
    if (value !== undefined) headers[name] = value;
  }
  return Object.keys(headers).length === 0 ? {} : { headers };
}

/** The first 4 KiB of a body. */
export async function beginningOf(body: RequestBody | string): Promise<string> {
  if (typeof body === 'string') return body.slice(0, MAX_SHOWN_BYTES);
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body.chunks()) {
    pieces.push(Buffer.from(piece));
    bytes += piece.byteLength;
    if (bytes >= MAX_SHOWN_BYTES) break;
  }
  return Buffer.concat(pieces).toString('utf8').slice(0, MAX_SHOWN_BYTES);
}
