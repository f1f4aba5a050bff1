import { isJsonObject } from '../../../utils/bounded-json.ts';
import { shorten } from '../../../utils/shorten.ts';

/** Maximum length of a reason in a message. */
const MAX_REFUSAL_REASON_LENGTH = 300;

/** Matches tags that only a web page holds. */
const HTML_PAGE = /<(?:!doctype|html|head|body|title|h1)\b/i;

/** Describes a body that is not JSON, in one line. Doesn't quote a web page. */
export function describeErrorBody(text: string): string {
  return HTML_PAGE.test(text) ? 'with a web page instead of an API answer' : shortenReason(text);
}

/** Returns a reason in one line, shortened. */
export function shortenReason(reason: string): string {
  const line = reason.replace(/\s+/g, ' ').trim();
  if (line === '') return '(no reason given)';
  return shorten(line, MAX_REFUSAL_REASON_LENGTH);
}

/** Returns the reason in an error body, or in the `error` of an answer; undefined if it has none. */
export function findReason(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return findReason(value[0]);
  if (!isJsonObject(value)) return undefined;

  for (const key of ['error', 'message', 'Message', 'detail', 'errors', 'msg', 'title']) {
    const reason = findReason(value[key]);
    if (reason !== undefined && reason !== '') return reason + formatReasonField(value);
  }

  const rest = JSON.stringify(value);
  return rest === '{}' ? undefined : rest;
}

/** Formats the path of the field in question, which FastAPI gives in `loc`. */
function formatReasonField({ loc }: Record<string, unknown>): string {
  return Array.isArray(loc) ? ` (${loc.map(String).join('.')})` : '';
}
