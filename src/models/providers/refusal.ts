import { isJsonObject } from '../../wire/bounded-json.ts';

const SHOWN_LENGTH = 300;

/** An error of the clients of both interfaces: an answer that is not a success, or an error within a stream. */
interface ClientError extends Error {
  /** undefined for an error within a stream. */
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  /** What the body says. */
  readonly error: unknown;
}

/** Whether something thrown is what a provider answered, as its client throws it. */
export function isClientError(thrown: unknown): thrown is ClientError {
  if (!(thrown instanceof Error) || !('status' in thrown && 'headers' in thrown && 'error' in thrown)) {
    return false;
  }
  return typeof thrown.status === 'number' || thrown.error !== undefined;
}

/** An answer that is not a success as the fault that it is. */
export function refusal({ status, headers, error, message }: ClientError): ProviderFault {
  if (status === undefined) {
    return new ProviderFault(`answered with an error: ${reasonOf(error) ?? 'it does not say which'}`, {
      mayHaveCost: true,
    });
  }
  if (status >= 300 && status < 400) return redirected(status, headers?.get('location') ?? undefined);
  const text = error === undefined ? message.replace(/^\d+ /, '') : JSON.stringify(error);
  const reason = reasonOf(error) ?? text.replace('status code (no body)', '');
  const quotaUsedUp = status === 429 && isQuota(text);
  return new ProviderFault(`answered ${status} ${inOneLine(reason)}`, {
    status,
    isRefused: status < 500,
    quotaUsedUp,
    retryAfterMs: retryAfter(headers),
    advice: adviceOn(status, { text, quotaUsedUp }),
  });
}

function redirected(status: number, location: string | undefined): ProviderFault {
  const target =
    location !== undefined && URL.canParse(location) ? new URL(location).origin : (location ?? 'nowhere');
  return new ProviderFault(`redirects to ${target} (it answered ${status}), and prompts are not sent on`, {
    isRefused: true,
    advice: 'give the address it redirects to as its baseUrl, if you trust it',
  });
}

/** A reason in one line; a web page is named as one. */
export function inOneLine(reason: string): string {
  if (/^\s*</.test(reason)) return 'with a web page, not with what its interface answers';
  const line = reason.replace(/\s+/g, ' ').trim();
  if (line === '') return '(without saying why)';
  return line.length > SHOWN_LENGTH ? `${line.slice(0, SHOWN_LENGTH)}…` : line;
}

/** The reason in an error body, or in an `error` within an answer. */
export function reasonOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return reasonOf(value[0]);
  if (!isJsonObject(value)) return undefined;
  for (const key of ['error', 'message', 'detail', 'errors', 'msg', 'title']) {
    const reason = reasonOf(value[key]);
    if (reason !== undefined && reason !== '') return reason + placeIn(value);
  }
  const rest = JSON.stringify(value);
  return rest === '{}' ? undefined : rest;
}

/** FastAPI names the field it complains of in `loc`. */
function placeIn({ loc }: Record<string, unknown>): string {
  return Array.isArray(loc) ? ` (${loc.map(String).join('.')})` : '';
}

function isQuota(text: string): boolean {
  return /insufficient_quota|quota_exceeded|exceeded your (?:current )?quota|credit balance|billing/i.test(
    text,
  );
}

function adviceOn(
  status: number,
  { text, quotaUsedUp }: { text: string; quotaUsedUp: boolean },
): string | undefined {
  if (quotaUsedUp || status === 402) return 'the quota of its account is used up: see its billing';
  if (status === 404 || status === 405) {
    return 'check its baseUrl, which mostly ends in /v1, and the model’s name: promptrun models discover lists what it has';
  }
  if (status === 429) return 'it is busy: try again later';
  if (status >= 500) return 'the fault is on its side: try again later';
  if (/response_format|json_schema|json_object/.test(text)) {
    return 'it can’t be asked for JSON in this way: give the model `responseFormat: none` in models.yaml, and ask for JSON in the prompt';
  }
  return undefined;
}

/** In milliseconds, of `retry-after-ms`, or of `retry-after` in seconds or as a date. */
function retryAfter(headers: Headers | undefined): number | undefined {
  const exact = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (exact >= 0) return exact;
  const after = headers?.get('retry-after')?.trim();
  if (!after) return undefined;
  const seconds = Number(after);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(after);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** Something a provider did that makes the run fail. */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault';

  constructor(
    /** What it did, as a sentence that begins after its name: `answered 500 …`. */
    readonly what: string,
    readonly more: {
      /** What the user can do next. */
      readonly advice?: string | undefined;
      /** The HTTP status it answered with. */
      readonly status?: number;
      /** How long it wants to be left alone, in milliseconds; undefined where it did not say. */
      readonly retryAfterMs?: number | undefined;
      /** Whether asking again can't help: the account's quota is used up. */
      readonly quotaUsedUp?: boolean;
      /** Whether an answer was begun: then it may have been paid for. */
      readonly mayHaveCost?: boolean;
      /** Whether nothing of it can have been paid for: it was refused, or never arrived. */
      readonly isRefused?: boolean;
      /** Set if nothing was sent. */
      readonly isUnreachable?: boolean;
    } = {},
  ) {
    super(what);
  }
}
