import { parseJson } from '../../../files/formats/json.ts';
import { parseRetryAfter } from '../../../net/retry-policy.ts';
import { readListAt, readTextAt, readValueAt } from '../../../utils/bounded-json.ts';
import type { EngineFault } from '../../engine.ts';
import { describeErrorBody, findReason, shortenReason } from './error-body.ts';
import { type FaultAdvice, ProviderFault } from './provider-fault.ts';

/** A response that is not a success. */
export interface RefusedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** xAI answers 400 to an invalid key, with the same code as for any invalid argument. */
const XAI_INVALID_KEY_REASON = /^Incorrect API key provided\b/;

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

/**
 * Returns the fault of a response that is not a success. Judges by status and codes rather than by
 * words, except where a provider has the same codes for different faults.
 */
export function createRefusalFault({ status, headers, text }: RefusedResponse): ProviderFault {
  if (status >= 300 && status < 400) return createRedirectFault(status, headers['location']);

  const body = parseJson(text) ?? text;
  const reason = findReason(body) ?? text;
  const reasonText = body === text ? describeErrorBody(text) : shortenReason(reason);
  const codes = collectErrorCodes(body);
  const isQuotaUsedUp = codes.some(code => QUOTA_CODES.has(code));
  const isAccessDenied =
    [401, 402, 403].includes(status) ||
    codes.some(code => INVALID_KEY_CODE.test(code)) ||
    XAI_INVALID_KEY_REASON.test(reason);

  return new ProviderFault(`answered ${status} ${reasonText}`, {
    status,
    isRefused: status < 500 || isOverloaded(codes, reason),
    isQuotaUsedUp,
    isOverloaded: isOverloaded(codes, reason),
    hasExpired: codes.some(code => /(?:^|_)expired$/i.test(code)),
    retryAfterMs: readHeaderWaitMs(headers) ?? readBodyWaitMs(body),
    param: findErrorParam(body),
    fault: classifyStatus(status, { isQuotaUsedUp, isAccessDenied }),
    advice: findRefusalAdvice(status, { text, isQuotaUsedUp }),
    isTemporary: !isQuotaUsedUp && (status === 429 || status >= 500),
  });
}

function classifyStatus(
  status: number,
  { isQuotaUsedUp, isAccessDenied }: { isQuotaUsedUp: boolean; isAccessDenied: boolean },
): EngineFault | undefined {
  if (isQuotaUsedUp && status !== 402) return 'quota';
  if (isAccessDenied && status < 500) return 'unauthorised';
  return status === 429 || status === 529 ? 'busy' : undefined;
}

/** Returns the error in a body, which Google sends as a list. */
function unwrapError(body: unknown): unknown {
  return Array.isArray(body) ? body[0] : body;
}

/** Returns the codes, types and reasons of an error in any provider's format. */
function collectErrorCodes(body: unknown): string[] {
  const error = unwrapError(body);
  const innerError = readValueAt(error, 'error');
  const errorObjects = [
    error,
    innerError,
    ...readListAt(innerError, 'details'),
    ...readListAt(error, 'details'),
  ];
  return errorObjects.flatMap(errorObject =>
    ['code', 'type', '__type', 'reason', 'status'].flatMap(
      key => readTextAt(errorObject, key) ?? [],
    ),
  );
}

function isOverloaded(codes: readonly string[], reason: string): boolean {
  return (
    codes.includes('overloaded_error') ||
    (codes.includes('UNAVAILABLE') && /\boverloaded\b/i.test(reason))
  );
}

function findErrorParam(body: unknown): string | undefined {
  const error = unwrapError(body);
  return readTextAt(error, 'error', 'param') ?? readTextAt(error, 'param');
}

function createRedirectFault(status: number, header: string | string[] | undefined): ProviderFault {
  const location = Array.isArray(header) ? header[0] : header;
  const target =
    location !== undefined && URL.canParse(location)
      ? new URL(location).origin
      : (location ?? 'nowhere');
  return new ProviderFault(
    `redirects to ${target} (HTTP ${status}), and redirects are not followed`,
    {
      isRefused: true,
      advice: address => `if you trust that address, set ${address} to it`,
    },
  );
}

function findRefusalAdvice(
  status: number,
  { text, isQuotaUsedUp }: { text: string; isQuotaUsedUp: boolean },
): FaultAdvice | undefined {
  if (isQuotaUsedUp || status === 402) {
    return 'the quota of the account is used up: check its billing';
  }

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
function readHeaderWaitMs(headers: RefusedResponse['headers']): number | undefined {
  const waitMs = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(waitMs) && waitMs >= 0) return waitMs;
  return parseRetryAfter(String(headers['retry-after'] ?? ''), Date.now());
}

/** Returns the wait in Google's own format, such as `retryDelay: 13.5s`, in milliseconds. */
function readBodyWaitMs(body: unknown): number | undefined {
  const retryInfo = readListAt(unwrapError(body), 'error', 'details').find(detail =>
    readTextAt(detail, '@type')?.endsWith('google.rpc.RetryInfo'),
  );
  const [, seconds] =
    /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(readTextAt(retryInfo, 'retryDelay') ?? '') ?? [];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
