import type { JsonObject } from '../../../../../files/formats/json.ts';
import { TAG } from '../../nunjucks/split-nunjucks.ts';
import { convertBody } from './entry-placeholders.ts';

/** Headers that are made from the address and the body. */
const DERIVED_HEADERS = new Set(['host', 'content-length', 'connection']);

/**
 * Returns the settings of an HTTP provider for a request in the form in which it is sent. Returns
 * undefined for any other text, and for a request with variables in a body that is not JSON:
 * promptfoo escapes them.
 */
export function parseRawRequest(request: string, scheme: 'http' | 'https'): JsonObject | undefined {
  const [head = '', ...rest] = request.trim().replaceAll('\r\n', '\n').split('\n\n');
  const [start = '', ...fields] = head.split('\n');
  const words = start.trim().split(/\s+/u);
  const [method = ''] = words;

  // A variable may have blanks.
  const target = words.slice(1, -1).join(' ');
  const headers = new Map(
    fields.map(field => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon).trim().toLowerCase(), field.slice(colon + 1).trim()] as const;
    }),
  );
  const host = headers.get('host');
  const body = rest.join('\n\n').trim();
  const isJson = typeof convertBody(body) === 'object';
  const isRequest =
    /^[A-Z]+$/u.test(method) && target.startsWith('/') && words.at(-1)?.startsWith('HTTP/');
  if (!isRequest || host === undefined) return undefined;
  if (TAG.test(body) && !isJson) return undefined;

  return {
    url: `${scheme}://${host}${target}`,
    method,
    headers: Object.fromEntries([...headers].filter(([name]) => !DERIVED_HEADERS.has(name))),
    ...(body !== '' && { body }),
  };
}
