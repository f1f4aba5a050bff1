import { codeOf, messageOf } from '../../../files/error-utils.ts';
import type { Provider } from '../../models/entry.ts';
import { ProxyFault } from '../../outgoing/tunnel.ts';
import type { EngineJob } from '../engine.ts';

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
    } = {},
  ) {
    super(what);
  }
}

/** The provider's fault in what was thrown, however often it was wrapped on the way; undefined where it is another's. */
function providerFaultIn(thrown: unknown): ProviderFault | undefined {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error instanceof ProviderFault) return error;
  }
  return undefined;
}

const MAX_LENGTH = 600;

/** A fault as one line that can be shown: who did what, without keys, and what to do next. */
export function explain(thrown: unknown, provider: Provider, key: string | undefined): string {
  const fault = providerFaultIn(thrown) ?? networkFault(thrown, provider);
  const what = withoutKeys(fault.what, key).replace(/\s+/g, ' ').trim();
  const short = what.length > MAX_LENGTH ? `${what.slice(0, MAX_LENGTH)}…` : what;
  const { advice } = fault.more;
  return `${provider.name}${short.startsWith('’') ? '' : ' '}${short}${advice === undefined ? '' : `: ${advice}`}`;
}

const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'is its server running, and its baseUrl right?',
  ENOTFOUND: 'nobody knows that host: check its baseUrl',
  EAI_AGAIN: 'the host’s name can’t be looked up: check the network and its baseUrl',
  ECONNRESET: 'it closed the connection before it answered: try again later',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is another host’s: check its baseUrl',
  SELF_SIGNED_CERT_IN_CHAIN: 'set NODE_EXTRA_CA_CERTS to the certificate of who signed its own',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'set NODE_EXTRA_CA_CERTS to its certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'set NODE_EXTRA_CA_CERTS to the certificate of who signed its own',
  EPROTO: 'does it speak https? Check its baseUrl',
};

/** What went wrong on the way to the provider. */
function networkFault(thrown: unknown, { baseUrl }: Provider): ProviderFault {
  const error = innermost(thrown);
  if (error instanceof ProxyFault) {
    return new ProviderFault(`can’t be reached: ${error.message}`, {
      advice: 'check HTTPS_PROXY and HTTP_PROXY',
    });
  }
  const code = codeOf(error);
  const reason = messageOf(error) || code || 'no reason given';
  return new ProviderFault(`can’t be reached at ${placeOf(baseUrl)}: ${reason}`, {
    advice: ADVICE[code ?? ''],
  });
}

/** Wrappers say less than what they wrap; of several addresses tried, the last is as good as any. */
function innermost(thrown: unknown): unknown {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return innermost(thrown.errors.at(-1));
  return thrown instanceof Error && thrown.cause !== undefined ? innermost(thrown.cause) : thrown;
}

function placeOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : 'an address that is not a URL';
}

/** A shorter key could be any word of a message. */
const SHORTEST_SECRET = 8;

/** Providers repeat a wrong key, in part, in what they answer; a URL may carry a password. */
function withoutKeys(text: string, key = ''): string {
  return withoutKey(text, key)
    .replace(/[\w*.-]+/g, withoutSecret)
    .replace(/\bBearer\s+(?=\S*\d)\S{6,}/gi, 'Bearer ***')
    .replace(/\/\/[^/@\s]+@/g, '//***@');
}

/** A word such as `sk-ab12cd…`, but not `key-value`: what follows has a digit, or was masked in part by the provider. */
function withoutSecret(word: string): string {
  const prefix = /\b(?:sk|pk|key)-/i.exec(word);
  if (prefix === null) return word;
  const secret = word.slice(prefix.index + prefix[0].length);
  return secret.length >= 6 && /[\d*]/.test(secret) ? `${word.slice(0, prefix.index)}***` : word;
}

/** A key that is a short word is masked only where it is named as a key. */
function withoutKey(text: string, key: string): string {
  if (key === '') return text;
  if (key.length >= SHORTEST_SECRET) return text.replaceAll(key, '***');
  const literal = key.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return text.replace(
    new RegExp(`((?:key|bearer|token)[^\\w]{0,3}(?:provided)?[:="'\\s]{1,4})${literal}(?!\\w)`, 'gi'),
    '$1***',
  );
}

const RETRIES = 3;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;

/**
 * Asks again, up to three times, where the provider refused because it is busy (429): not where it wants more than 60 s,
 * nor where the quota is used up. After any other fault an answer may have been made and paid for, so it is never asked twice.
 */
export async function retryWhileBusy<T>(
  { sleep, signal }: Pick<EngineJob, 'sleep' | 'signal'>,
  ask: () => Promise<T>,
): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await ask();
    } catch (error) {
      const waitMs = retries === RETRIES ? undefined : waitBeforeRetry(error, FIRST_WAIT_MS * 2 ** retries);
      if (waitMs === undefined) throw error;
      await sleep(waitMs, signal);
    }
  }
}

/** In milliseconds; undefined where asking again is of no use. */
function waitBeforeRetry(error: unknown, otherwise: number): number | undefined {
  const { status, quotaUsedUp, retryAfterMs = otherwise } = providerFaultIn(error)?.more ?? {};
  return status === 429 && quotaUsedUp !== true && retryAfterMs <= LONGEST_WAIT_MS ? retryAfterMs : undefined;
}
