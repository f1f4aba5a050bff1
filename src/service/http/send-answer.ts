import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { yieldToEvents } from '../core/background-work.ts';
import type { ApiAnswer } from './route.ts';

/** Minimum length of an answer that takes milliseconds to encode, in UTF-16 units. */
const LONG_ANSWER_LENGTH = 256 * 1024;

/** Closes the connection if the caller stops reading the answer for this time. */
export function setStallTimeout(response: ServerResponse, stallTimeoutMs: number): void {
  response.setTimeout(stallTimeoutMs);
  // If the next request has already arrived, Node keeps the timeout, although its answer may take
  // longer. Runs before Node's own listener, which sets the timeout of an idle connection.
  response.prependOnceListener('finish', () => response.setTimeout(0));
}

/** Sends an answer; only its headers if the method was HEAD. */
export async function sendAnswer(
  response: ServerResponse,
  { httpStatus, headers, body }: ApiAnswer,
  { isHead }: { readonly isHead: boolean },
): Promise<void> {
  if (typeof body === 'string' && body.length > LONG_ANSWER_LENGTH) {
    await yieldToEvents();
    const bytes = Buffer.from(body);
    response.writeHead(httpStatus, { ...headers, 'content-length': bytes.length });
    response.end(isHead ? undefined : bytes);
    return;
  }

  if (typeof body === 'string') {
    response.writeHead(httpStatus, { ...headers, 'content-length': Buffer.byteLength(body) });
    response.end(isHead ? undefined : body);
    return;
  }

  response.writeHead(httpStatus, headers);
  if (!isHead) return await pipeline(body, response);

  body.destroy();
  response.end();
}
