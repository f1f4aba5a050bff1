import { type HttpAnswer, readBody } from '../../outgoing/request.ts';
import { ProviderFault } from './fault.ts';

/** A refusal is a few lines; of more than this nothing is read. */
const MAX_REFUSAL_BYTES = 256 * 1024;
const SHOWN_LENGTH = 300;

/** An answer that is not a success, as the fault that it is. */
export async function refusedAnswer(answer: HttpAnswer): Promise<ProviderFault> {
  const { status, headers } = answer;
  if (status >= 300 && status < 400) {
    answer.discard();
    return redirected(status, headers.location);
  }
  const text = await readBody(answer, MAX_REFUSAL_BYTES).then(
    bytes => bytes.toString('utf8'),
    () => '',
  );
  const reason = reasonIn(text);
  const quotaUsedUp = status === 429 && isQuota(text);
  return new ProviderFault(`answered ${status} ${reason}`, {
    status,
    quotaUsedUp,
    retryAfterMs: retryAfter(headers['retry-after-ms'], headers['retry-after']),
    advice: adviceOn(status, { text, quotaUsedUp }),
  });
}

function redirected(status: number, location: string | undefined): ProviderFault {
  const target =
    location !== undefined && URL.canParse(location) ? new URL(location).origin : (location ?? 'nowhere');
  return new ProviderFault(`redirects to ${target} (it answered ${status}), and prompts are not sent on`, {
    advice: 'give the address it redirects to as its baseUrl, if you trust it',
  });
}

/**
 * What a body says went wrong, in one line: servers put it in `error`, `error.message`, `detail`, `message`, or in
 * plain text.
 */
export function reasonIn(text: string): string {
  if (/^\s*</.test(text)) return 'with a web page, not with what an OpenAI-compatible server answers';
  const reason = reasonOf(parsed(text)) ?? text;
  const line = reason.replace(/\s+/g, ' ').trim();
  if (line === '') return '(without saying why)';
  return line.length > SHOWN_LENGTH ? `${line.slice(0, SHOWN_LENGTH)}…` : line;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The reason in an error body, or in an `error` within an answer. */
export function reasonOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return reasonOf(value[0]);
  if (!isRecord(value)) return undefined;
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
  if (status === 401) return 'it refuses the key: check the variable that holds it where the service runs';
  if (status === 403) return 'the key may not use this model: check what its account allows';
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
function retryAfter(
  milliseconds: string | string[] | undefined,
  after: string | undefined,
): number | undefined {
  const exact = Number.parseFloat(String(milliseconds ?? ''));
  if (exact >= 0) return exact;
  if (after === undefined) return undefined;
  const seconds = Number(after.trim() === '' ? Number.NaN : after);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(after);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** Whether a value of somebody's JSON is an object whose fields can be looked at. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
