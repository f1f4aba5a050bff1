import type { JsonObject } from '../../../../../files/formats/json.ts';
import { NUNJUCKS_TAG } from '../../nunjucks/split-nunjucks.ts';
import { convertBody } from './entry-placeholders.ts';

/** Headers that are made from the address and the body. */
const DERIVED_HEADERS = new Set(['host', 'content-length', 'connection']);

/**
 * Returns the settings of an HTTP provider for a request as it is sent. Returns undefined for any
 * other text, and for a request with variables in a body that is not JSON, because promptfoo
 * escapes them there.
 */
export function parseRawRequest(request: string, scheme: 'http' | 'https'): JsonObject | undefined {
  const [requestHead = '', ...bodyParts] = request.trim().replaceAll('\r\n', '\n').split('\n\n');
  const [requestLine = '', ...headerLines] = requestHead.split('\n');
  const words = requestLine.trim().split(/\s+/u);
  const [method = ''] = words;

  // A variable may have blanks.
  const target = words.slice(1, -1).join(' ');
  const headers = new Map(
    headerLines.map(line => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const host = headers.get('host');
  const body = bodyParts.join('\n\n').trim();
  const isJsonBody = typeof convertBody(body) === 'object';
  const isRequest =
    /^[A-Z]+$/u.test(method) && target.startsWith('/') && words.at(-1)?.startsWith('HTTP/');
  if (!isRequest || host === undefined) return undefined;
  if (NUNJUCKS_TAG.test(body) && !isJsonBody) return undefined;

  return {
    url: `${scheme}://${host}${target}`,
    method,
    headers: Object.fromEntries([...headers].filter(([name]) => !DERIVED_HEADERS.has(name))),
    ...(body !== '' && { body }),
  };
}
