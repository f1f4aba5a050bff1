/** Messages for codes of Node and undici whose own messages say too little. */
const FAULT_MESSAGES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'host not found',
  EAI_AGAIN: 'host name lookup failed',
  EHOSTUNREACH: 'host unreachable',
  EMFILE: 'too many files and connections are open',
  ENETUNREACH: 'network unreachable',
  EPIPE: 'connection closed while sending',
  ETIMEDOUT: 'connection timed out',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not use TLS; try an address that begins with http://',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped half-way',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was cut short',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  UND_ERR_SOCKET: 'connection closed by the other side',
};

/** Codes for a certificate that this machine does not trust, which a retry can't change. */
const UNTRUSTED_CERTIFICATE_CODES = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_UNTRUSTED',
]);

/** Codes for other certificate faults that a retry can't change. */
const INVALID_CERTIFICATE_CODES = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** A proxy failed to connect. A message that names only the server would mislead. */
export class ProxyFault extends Error {
  override readonly name = 'ProxyFault';
  /** False if a retry can't succeed. */
  readonly isRetryable: boolean;

  constructor(
    readonly proxyHost: string,
    readonly reason: string,
    options: { readonly isRetryable?: boolean; readonly cause?: unknown } = {},
  ) {
    const message = `the proxy ${proxyHost} made no connection: ${reason}`;
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.isRetryable = options.isRetryable ?? true;
  }
}

/** Returns true if a connection failed because of a certificate, so that a retry can't succeed. */
export function isCertificateFault(error: unknown): boolean {
  const code = findFaultCode(error) ?? '';
  return UNTRUSTED_CERTIFICATE_CODES.has(code) || INVALID_CERTIFICATE_CODES.has(code);
}

/** Explains why a connection failed, with the system's error code, which users can search for. */
export function explainConnectionFault(error: unknown): string {
  const code = findFaultCode(error);
  if (code === undefined) return getFaultMessage(error);
  if (UNTRUSTED_CERTIFICATE_CODES.has(code)) {
    return `its certificate is not trusted (${code}); set NODE_EXTRA_CA_CERTS to the file of its CA`;
  }
  const message = FAULT_MESSAGES[code] ?? getFaultMessage(error);
  return isUndiciCode(code) ? message : `${message} (${code})`;
}

/**
 * Explains a failed connection like `explainConnectionFault`, without the address that some of
 * Node's own messages repeat: of a fault without a message here, returns only the code.
 */
export function explainFaultWithoutAddress(error: unknown): string {
  const code = findFaultCode(error);
  const isKnown =
    code !== undefined && (UNTRUSTED_CERTIFICATE_CODES.has(code) || code in FAULT_MESSAGES);
  return isKnown ? explainConnectionFault(error) : (code ?? 'connection failed');
}

/** Returns true for a code of the HTTP client, which adds nothing to the message. */
function isUndiciCode(code: string): boolean {
  return code.startsWith('UND_ERR_');
}

export function getFaultMessage(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : 'connection failed';
}

export function findFaultCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
