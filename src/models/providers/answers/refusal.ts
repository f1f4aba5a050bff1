import { parseJson } from '../../../files/json.ts';
import { shortened } from '../../../files/shortened.ts';
import { retryAfter } from '../../../net/retry.ts';
import { isJsonObject, listAt, textAt, valueAt } from '../../../wire/bounded-json.ts';
import type { EngineFault } from '../../engine.ts';

/** Maximum length of a reason in a message. */
const MAX_SHOWN_REFUSAL = 300;

/** A response that is not a success. */
export interface RefusedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Returns the fault of a response that is not a success, judged by status and codes rather than by words. */
export function refusalFault({ status, headers, text }: RefusedResponse): ProviderFault {
  if (status >= 300 && status < 400) return redirectFault(status, headers['location']);
  const body = parseJson(text) ?? text;
  const reason = reasonInBody(body) ?? text;
  const shown = body === text ? pageOrLine(text) : inOneLine(reason);
  const codes = codesIn(body);
  const quotaUsedUp = codes.some(code => QUOTA_CODES.has(code));
  const keyIsInvalid =
    [401, 402, 403].includes(status) ||
    codes.some(code => INVALID_KEY_CODE.test(code)) ||
    XAI_KEY.test(reason);
  return new ProviderFault(`answered ${status} ${shown}`, {
    status,
    isRefused: status < 500 || isOverloaded(codes, reason),
    quotaUsedUp,
    isOverloaded: isOverloaded(codes, reason),
    hasExpired: codes.some(code => /(?:^|_)expired$/i.test(code)),
    retryAfterMs: headerWait(headers) ?? bodyWait(body),
    param: paramIn(body),
    fault: faultOfStatus(status, { quotaUsedUp, keyIsInvalid }),
    advice: adviceOnRefusal(status, { text, quotaUsedUp }),
    isPassing: !quotaUsedUp && (status === 429 || status >= 500),
  });
}

function faultOfStatus(
  status: number,
  { quotaUsedUp, keyIsInvalid }: { quotaUsedUp: boolean; keyIsInvalid: boolean },
): EngineFault | undefined {
  if (quotaUsedUp && status !== 402) return 'quota';
  if (keyIsInvalid && status < 500) return 'unauthorised';
  return status === 429 || status === 529 ? 'busy' : undefined;
}

/** Returns the error in a body, which Google sends as a list. */
function errorIn(body: unknown): unknown {
  return Array.isArray(body) ? body[0] : body;
}

/** Returns the codes, types and reasons of an error in any provider's format. */
function codesIn(body: unknown): string[] {
  const error = errorIn(body);
  const inner = valueAt(error, 'error');
  const holders = [error, inner, ...listAt(inner, 'details'), ...listAt(error, 'details')];
  return holders.flatMap(holder =>
    ['code', 'type', '__type', 'reason', 'status'].flatMap(key => textAt(holder, key) ?? []),
  );
}

/** xAI answers 400 to an invalid key, with the same code as for any invalid argument. */
const XAI_KEY = /^Incorrect API key provided\b/;

/** Error codes of an account that has nothing left to spend. */
const QUOTA_CODES: ReadonlySet<string> = new Set([
  'insufficient_quota',
  'insufficient_balance',
  'insufficient_credits',
  'quota_exceeded',
  'exceeded_current_quota_error',
  'billing_hard_limit_reached',
  'billing_not_active',
  'billing_error',
  'credits_exhausted',
]);

/** Error codes of an invalid key, at providers that answer 400 to one. */
const INVALID_KEY_CODE =
  /^(?:API_KEY_INVALID|invalid[-_]api[-_]key|.*:invalid-api-key|.*:bad-credentials|.*[-_]credentials[-_]invalid)$/i;

function isOverloaded(codes: readonly string[], reason: string): boolean {
  return (
    codes.includes('overloaded_error') || (codes.includes('UNAVAILABLE') && /\boverloaded\b/i.test(reason))
  );
}

function paramIn(body: unknown): string | undefined {
  const error = errorIn(body);
  return textAt(error, 'error', 'param') ?? textAt(error, 'param');
}

function redirectFault(status: number, header: string | string[] | undefined): ProviderFault {
  const location = Array.isArray(header) ? header[0] : header;
  const target =
    location !== undefined && URL.canParse(location) ? new URL(location).origin : (location ?? 'nowhere');
  return new ProviderFault(`redirects to ${target} (HTTP ${status}), and redirects are not followed`, {
    isRefused: true,
    advice: address => `if you trust that address, set ${address} to it`,
  });
}

/** Matches tags that only a web page holds. */
const HTML_PAGE = /<(?:!doctype|html|head|body|title|h1)\b/i;

/** Returns a body that is not JSON in one line; a web page only by name. */
export function pageOrLine(text: string): string {
  return HTML_PAGE.test(text) ? 'with a web page instead of an API answer' : inOneLine(text);
}

/** Returns a reason in one line, shortened. */
export function inOneLine(reason: string): string {
  const line = reason.replace(/\s+/g, ' ').trim();
  if (line === '') return '(no reason given)';
  return shortened(line, MAX_SHOWN_REFUSAL);
}

/** Returns the reason in an error body, or in the `error` of an answer. */
export function reasonInBody(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return reasonInBody(value[0]);
  if (!isJsonObject(value)) return undefined;
  for (const key of ['error', 'message', 'Message', 'detail', 'errors', 'msg', 'title']) {
    const reason = reasonInBody(value[key]);
    if (reason !== undefined && reason !== '') return reason + fieldIn(value);
  }
  const rest = JSON.stringify(value);
  return rest === '{}' ? undefined : rest;
}

/** Returns the field in question, which FastAPI names in `loc`. */
function fieldIn({ loc }: Record<string, unknown>): string {
  return Array.isArray(loc) ? ` (${loc.map(String).join('.')})` : '';
}

function adviceOnRefusal(
  status: number,
  { text, quotaUsedUp }: { text: string; quotaUsedUp: boolean },
): Advice | undefined {
  if (quotaUsedUp || status === 402) return 'the quota of the account is used up: check its billing';
  if (status === 404 || status === 405) {
    return (_, address) =>
      `check ${address}, and the model's name: promptrun models discover lists what it has`;
  }
  if (status === 429 || status === 529) return 'it is busy: try again later';
  if (status >= 500) return 'the fault is on its side: try again later';
  if (/response_format|json_schema|json_object/.test(text)) {
    return 'it does not support this way of asking for JSON: set `responseFormat: none` for the model in models.yaml, and ask for JSON in the prompt';
  }
  return undefined;
}

/** Returns the wait that the headers ask for, in milliseconds. */
function headerWait(headers: RefusedResponse['headers']): number | undefined {
  const exact = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return exact;
  return retryAfter(String(headers['retry-after'] ?? ''), Date.now());
}

/** Returns the wait in Google's own format, such as `retryDelay: 13.5s`, in milliseconds. */
function bodyWait(body: unknown): number | undefined {
  const info = listAt(errorIn(body), 'error', 'details').find(detail =>
    textAt(detail, '@type')?.endsWith('google.rpc.RetryInfo'),
  );
  const [, seconds] = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(textAt(info, 'retryDelay') ?? '') ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/** Advice on what to do next. A function takes the name of the provider's address, and the name with its usual ending. */
export type Advice = string | ((address: string, addressWithEnding: string) => string);

/** A fault of a provider that makes the run fail. */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault';

  constructor(
    /** The fault as a sentence without the provider's name: `answered 500 …`. */
    readonly what: string,
    readonly more: {
      readonly advice?: Advice | undefined;
      /** True if the fault may be temporary, so that any caller can act on the advice. */
      readonly isPassing?: boolean;
      /** The HTTP status. */
      readonly status?: number;
      /** Time to wait before a retry, in milliseconds; undefined if the provider did not say. */
      readonly retryAfterMs?: number | undefined;
      /** True if the account's quota is used up, so that a retry can't help. */
      readonly quotaUsedUp?: boolean;
      /** True if the provider says that it did nothing because it is overloaded. */
      readonly isOverloaded?: boolean;
      /** True if the provider's error code says that the resource has expired. */
      readonly hasExpired?: boolean;
      /** The parameter that the provider complains about. */
      readonly param?: string | undefined;
      /** Why no model answered, if the command has its own exit code or hint for it. */
      readonly fault?: EngineFault | undefined;
      /** True if the request was sent and nothing came back. */
      readonly isUnanswered?: boolean;
      /** True if an answer was begun, which may have been paid for. */
      readonly mayHaveCost?: boolean;
      /** True if the run can't have cost anything: the request was refused, or never arrived. */
      readonly isRefused?: boolean;
    } = {},
  ) {
    super(what);
  }
}
