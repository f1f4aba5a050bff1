import { explainConnectionFailure, isAboutCertificate, ProxyFault } from '../../net/connection-fault.ts';
import { ProxySettingError } from '../../net/proxy.ts';
import { PROVIDER_RETRIES, waitBeforeRetry } from '../../net/retry-policy.ts';
import { errorCode, errorMessage } from '../../utils/error-utils.ts';
import { nearestFirst } from '../../utils/nearest-name.ts';
import { shortened } from '../../utils/shortened.ts';
import type { EngineFault, EngineJob } from '../engine.ts';
import type { ModelEntry, Provider } from '../model-entry.ts';
import type { Access } from './access.ts';
import { type Advice, ProviderFault } from './answers/provider-fault.ts';
import { addressWithEnding, askForModels } from './endpoints.ts';
import { keyVariable } from './providers.ts';

/** Returns the provider fault in a thrown value, however often it is wrapped; undefined if there is none. */
function providerFaultIn(thrown: unknown): ProviderFault | undefined {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error instanceof ProviderFault) return error;
  }
  return undefined;
}

/** Adds advice to a description, which may end with a sentence of the provider's own. */
function withAdvice(what: string, advice: string): string {
  if (advice === '') return what;
  return what.endsWith('.')
    ? `${what} ${advice.charAt(0).toUpperCase()}${advice.slice(1)}`
    : `${what}: ${advice}`;
}

/** Returns the provider's HTTP status in a thrown value. */
export function statusIn(thrown: unknown): number | undefined {
  return providerFaultIn(thrown)?.more.status;
}

const MAX_FAULT_LENGTH = 600;

/**
 * Describes a fault in one line: who did what, and what to do next, without keys. `plain` leaves out advice for the
 * operator of the service. `isRefused` is true if the run cost nothing.
 *
 * @param use the use of the provider that a 403 refuses
 */
export async function explainFault(
  thrown: unknown,
  { model, signal, use = 'this model' }: Pick<EngineJob, 'model' | 'signal'> & { readonly use?: string },
  access: Access,
): Promise<{
  message: string;
  plain: string;
  isRefused: boolean;
  isUnanswered: boolean;
  status: number | undefined;
  fault: EngineFault | undefined;
}> {
  const { provider, key } = access;
  const fault = providerFaultIn(thrown) ?? providerNetworkFault(thrown, provider);
  const whole = maskKeys(fault.what, key ?? '')
    .replace(/\s+/g, ' ')
    .trim();
  const short = shortened(whole, MAX_FAULT_LENGTH);
  const has = isUnknownModel(fault) ? await nearestModels(model, access, signal) : undefined;
  const advice = [operatorAdvice(fault, access, use), has].filter(text => text !== undefined).join('; ');
  const { isRefused = false, isUnanswered = false, isPassing = false, status, fault: kind } = fault.more;
  const cost = fault.more.mayHaveCost ? '; it may have been paid for' : '';
  const what = `${provider.name}${short.startsWith("'") ? '' : ' '}${short}${cost}`;
  const message = withAdvice(what, advice);
  return { message, plain: plainText(), isRefused, isUnanswered, status, fault: kind };

  /** Hides what the provider says about the key, which is for the operator only. */
  function plainText(): string {
    if (kind === 'unauthorised') return `${provider.name} denies this service access`;
    return isPassing ? message : what;
  }
}

function operatorAdvice(
  { more: { fault, status, advice } }: ProviderFault,
  { provider, env }: Access,
  use: string,
): string | undefined {
  const { addressName = 'its baseUrl' } = provider;
  if (fault !== 'unauthorised' || status === 402) {
    return typeof advice === 'function' ? advice(addressName, addressWithEnding(provider)) : advice;
  }
  const variable = keyVariable(provider, env);
  const { keyVariables } = provider;
  if (variable === undefined) {
    const remedy =
      keyVariables.length > 0
        ? `set ${keyVariables.join(' or ')}`
        : 'give the provider an apiKeyEnv in models.yaml';
    return `it requires a key: ${remedy}`;
  }
  return status === 403
    ? `the key in ${variable} may not use ${use}: check what its account allows`
    : `it refuses the key in ${variable}`;
}

const CLOSED = 'try again later';

const ADVICE: Readonly<Record<string, Advice>> = {
  ECONNREFUSED: address => `is its server running, and is ${address} right?`,
  ENOTFOUND: address => `the host does not exist: check ${address}`,
  EAI_AGAIN: address => `the host's name can't be looked up: check the network and ${address}`,
  ECONNRESET: CLOSED,
  EMFILE: 'lower --concurrency, or raise the limit of open files, as `ulimit -n 1024` does',
  UND_ERR_SOCKET: CLOSED,
  UND_ERR_CONNECT_TIMEOUT: address => `the connection timed out: check the network and ${address}`,
  ERR_TLS_CERT_ALTNAME_INVALID: address => `its certificate is for another host: check ${address}`,
  SELF_SIGNED_CERT_IN_CHAIN:
    'set NODE_EXTRA_CA_CERTS to the certificate of the CA that signed its certificate',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'set NODE_EXTRA_CA_CERTS to its certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'set NODE_EXTRA_CA_CERTS to the certificate of the CA that signed its certificate',
  EPROTO: address => `does it speak https? Check ${address}`,
};

export function providerNetworkFault(thrown: unknown, { baseUrl }: Pick<Provider, 'baseUrl'>): ProviderFault {
  const error = innermostCause(thrown);
  if (error instanceof ProxyFault) {
    return new ProviderFault(`can't be reached: ${error.message}`, {
      isRefused: true,
      fault: 'unreachable',
      advice: 'check HTTPS_PROXY and HTTP_PROXY',
    });
  }
  if (error instanceof ProxySettingError) {
    return new ProviderFault(`can't be reached: ${error.message}`, { isRefused: true, fault: 'unreachable' });
  }
  const code = errorCode(error);
  const reason =
    code?.startsWith('UND_ERR_') || code === 'EMFILE'
      ? explainConnectionFailure(error)
      : errorMessage(error) || code || 'no reason given';
  const isUnreachable = wasNotSent(error, code);
  const what = isUnreachable ? "can't be reached at" : 'gave no complete answer at';
  return new ProviderFault(`${what} ${describeHost(baseUrl)}: ${reason}`, {
    advice: ADVICE[code ?? ''],
    isPassing: code === 'ECONNRESET',
    isRefused: isUnreachable,
    fault: isUnreachable ? 'unreachable' : undefined,
    isUnanswered: !isUnreachable,
    mayHaveCost: !isUnreachable,
  });
}

/** Returns true if the fault came before the request: at the lookup of the host, the connection or the certificate. */
function wasNotSent(error: unknown, code: string | undefined): boolean {
  if (code !== undefined && code in ADVICE) return ADVICE[code] !== CLOSED;
  const syscall = error instanceof Error && 'syscall' in error ? error.syscall : undefined;
  return syscall === 'connect' || syscall === 'getaddrinfo' || isAboutCertificate(error);
}

/** Returns the innermost cause, which says most; if several addresses failed, that of the last. */
function innermostCause(thrown: unknown): unknown {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) {
    return innermostCause(thrown.errors.at(-1));
  }
  return thrown instanceof Error && thrown.cause !== undefined ? innermostCause(thrown.cause) : thrown;
}

function describeHost(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : 'an address that is not a URL';
}

/** Minimum length of a key to mask everywhere: a shorter one could be any word of a message. */
const MIN_MASKED_LENGTH = 8;

/** Masks keys and passwords: providers repeat parts of a wrong key, and URLs may hold passwords. */
export function maskKeys(text: string, ...keys: readonly string[]): string {
  return keys
    .reduce((shown, key) => maskKey(shown, key), text)
    .replace(/[\w*.-]+/g, maskSecret)
    .replace(/\bBearer\s+\S{6,}/gi, bearer => (/\d/.test(bearer) ? 'Bearer ***' : bearer))
    .replace(/\/\/[^/@\s]+@/g, '//***@');
}

/** Masks a word such as `sk-ab12cd…`, but not `key-value`: a secret has a digit, or a mask of the provider's own. */
function maskSecret(word: string): string {
  const prefix = /\b(?:sk|pk|key)-/i.exec(word);
  if (prefix === null) return word;
  const secret = word.slice(prefix.index + prefix[0].length);
  return secret.length >= 6 && /[\d*]/.test(secret) ? `${word.slice(0, prefix.index)}***` : word;
}

/** Masks the key. A short one is masked only where the text calls it a key. */
function maskKey(text: string, key: string): string {
  if (key === '') return text;
  if (key.length >= MIN_MASKED_LENGTH) return text.replaceAll(key, '***');
  const literal = key.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return text.replace(
    new RegExp(`((?:key|bearer|token)[^\\w]{0,3}(?:provided)?[:="'\\s]{1,4})${literal}(?!\\w)`, 'gi'),
    '$1***',
  );
}

/**
 * Retries up to three times while the provider is busy: after a 429, a 529, or an error that says that it is overloaded
 * and did nothing. Gives up if it asks for more than 60 s, or the quota is used up. After any other fault the answer may
 * have been paid for, so the request is not repeated.
 *
 * @param effect `none` if the request creates nothing; then network faults and server errors are retried too
 */
export async function retryWhileBusy<T>(
  { sleep, signal }: Pick<EngineJob, 'sleep' | 'signal'>,
  ask: () => Promise<T>,
  effect: RequestEffect = 'creates',
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      const retryAfterMs = providerFaultIn(error)?.more.retryAfterMs;
      const waitMs = isRetryable(error, effect)
        ? waitBeforeRetry(PROVIDER_RETRIES, { attempt, retryAfterMs })
        : undefined;
      if (waitMs === undefined) throw error;
      await sleep(waitMs, signal);
    }
  }
}

/** The effect of a request that a repetition would have twice. */
export type RequestEffect = 'creates' | 'none';

function isRetryable(error: unknown, effect: RequestEffect): boolean {
  const fault = providerFaultIn(error);
  const { status = fault ? 0 : 500, quotaUsedUp, isOverloaded } = fault?.more ?? {};
  const isBusy = status === 429 || status === 529 || isOverloaded === true;
  const isPassing = isBusy || (effect === 'none' && status >= 500);
  return isPassing && quotaUsedUp !== true;
}

const MAX_SHOWN_DETAILS = 5;

/** Returns true if the provider does not know the model. */
function isUnknownModel({ what, more: { status, param = 'model' } }: ProviderFault): boolean {
  const namesModel = param === 'model' && /\bmodel\b/i.test(what);
  return status === 404 || (status === 400 && namesModel && /\b(?:not|unknown|invalid|exist)/i.test(what));
}

/** Lists the provider's models, the nearest names first; undefined if it does not list any. */
async function nearestModels(
  { model, id = model }: ModelEntry,
  { provider, env }: Access,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { models } = await askForModels(provider, env, signal);
    const names = models.map(offered => offered.id);
    if (names.length === 0) return undefined;
    const more = names.length > MAX_SHOWN_DETAILS ? ` and ${names.length - MAX_SHOWN_DETAILS} more` : '';
    return `it has ${nearestFirst(id, names).slice(0, MAX_SHOWN_DETAILS).join(', ')}${more}`;
  } catch {
    return undefined;
  }
}
