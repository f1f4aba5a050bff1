import {
  explainConnectionFault,
  isCertificateFault,
  ProxyFault,
} from '../../net/connection-fault.ts';
import { ProxySettingError } from '../../net/proxy.ts';
import { getErrorCode, getErrorMessage } from '../../utils/error-utils.ts';
import type { Provider } from '../model-entry.ts';
import { type FaultAdvice, ProviderFault } from './answers/provider-fault.ts';

/** Codes of a connection that the other side closed, perhaps after the request was sent. */
const CLOSED_CONNECTION_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'UND_ERR_SOCKET']);

/** The advice for the codes of errors. */
const ADVICE_BY_CODE: Readonly<Record<string, FaultAdvice>> = {
  ECONNREFUSED: address => `is its server running, and is ${address} right?`,
  ENOTFOUND: address => `the host does not exist: check ${address}`,
  EAI_AGAIN: address => `the host's name can't be looked up: check the network and ${address}`,
  ECONNRESET: 'try again later',
  EMFILE: 'lower --concurrency, or raise the limit of open files, as `ulimit -n 1024` does',
  UND_ERR_SOCKET: 'try again later',
  UND_ERR_CONNECT_TIMEOUT: address => `the connection timed out: check the network and ${address}`,
  ERR_TLS_CERT_ALTNAME_INVALID: address => `its certificate is for another host: check ${address}`,
  SELF_SIGNED_CERT_IN_CHAIN:
    'set NODE_EXTRA_CA_CERTS to the certificate of the CA that signed its certificate',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'set NODE_EXTRA_CA_CERTS to its certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'set NODE_EXTRA_CA_CERTS to the certificate of the CA that signed its certificate',
  ERR_INVALID_URL: address => `check ${address}`,
  EPROTO: address => `does it speak https? Check ${address}`,
};

/** Returns the fault of a request that failed without a response. */
export function createNetworkFault(
  thrown: unknown,
  { baseUrl }: Pick<Provider, 'baseUrl'>,
): ProviderFault {
  const error = findInnermostCause(thrown);
  if (error instanceof ProxyFault) {
    return new ProviderFault(`can't be reached: ${error.message}`, {
      isRefused: true,
      fault: 'unreachable',
      advice: 'check HTTPS_PROXY and HTTP_PROXY',
    });
  }

  if (error instanceof ProxySettingError) {
    return new ProviderFault(`can't be reached: ${error.message}`, {
      isRefused: true,
      fault: 'unreachable',
    });
  }

  const code = getErrorCode(error);
  const isUnreachable = wasNotSent(error, code);
  const predicate = isUnreachable ? "can't be reached at" : 'gave no complete answer at';

  return new ProviderFault(`${predicate} ${describeHost(baseUrl)}: ${explainError(error, code)}`, {
    advice: ADVICE_BY_CODE[code ?? ''],
    isTemporary: code === 'ECONNRESET',
    isRefused: isUnreachable,
    fault: isUnreachable ? 'unreachable' : undefined,
    isUnanswered: !isUnreachable,
    mayHaveCost: !isUnreachable,
  });
}

/**
 * Returns true if the fault came before the request: at the lookup of the host, the connection or
 * the certificate.
 */
function wasNotSent(error: unknown, code: string | undefined): boolean {
  if (code !== undefined && code in ADVICE_BY_CODE) return !CLOSED_CONNECTION_CODES.has(code);
  const syscall = error instanceof Error && 'syscall' in error ? error.syscall : undefined;
  return syscall === 'connect' || syscall === 'getaddrinfo' || isCertificateFault(error);
}

/** Returns the innermost cause, which says most; if several addresses failed, that of the last. */
function findInnermostCause(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return findInnermostCause(error.errors.at(-1));
  }
  return error instanceof Error && error.cause !== undefined
    ? findInnermostCause(error.cause)
    : error;
}

function explainError(error: unknown, code: string | undefined): string {
  if (code?.startsWith('UND_ERR_') || code === 'EMFILE') return explainConnectionFault(error);
  return getErrorMessage(error) || code || 'no reason given';
}

function describeHost(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : 'an address that is not a URL';
}
