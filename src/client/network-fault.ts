import { InvalidRequestError, NetworkError } from './errors.ts';

/** Codes of Node and undici whose own messages say too little. */
const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'host not found',
  EAI_AGAIN: 'host name lookup failed',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  EPIPE: 'connection closed while sending',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped half-way',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was cut short',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  UND_ERR_SOCKET: 'connection closed by the other side',
};

/** What a failed connection is told as: the origin, the cause, and its code. */
export function networkFault(
  error: unknown,
  url: string,
  nothingSent: boolean,
): NetworkError | InvalidRequestError {
  const code = codeOf(error);
  if (code === 'UND_ERR_INVALID_ARG') return new InvalidRequestError(messageOf(error), { cause: error });
  const known = code === undefined ? undefined : CAUSES[code];
  const cause =
    known ?? (error instanceof Error && error.message !== '' ? error.message : 'connection failed');
  const { origin } = new URL(url);
  const what = nothingSent
    ? `can't connect to ${origin}${byProxy(error, url)}`
    : `no whole answer from ${origin}`;
  return new NetworkError(`${what}: ${cause}${code === undefined ? '' : ` (${code})`}`, {
    nothingSent,
    cause: error,
  });
}

// Another port than the service's is a proxy's: who reads of the service alone would look for the fault there.
function byProxy(error: unknown, url: string): string {
  if (!(error instanceof Error) || !('address' in error) || !('port' in error)) return '';
  const { port, protocol } = new URL(url);
  const own = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
  return error.port === own ? '' : ` by the proxy ${String(error.address)}:${String(error.port)}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : 'connection failed';
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
