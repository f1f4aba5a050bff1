import { isIP, type LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import packageJson from '../../../package.json' with { type: 'json' };
import { ProxyFault } from '../../net/connection-fault.ts';
import { buildProxyAuthorization, explainProxyRefusal, openAgent } from '../../net/http-agent.ts';

/** The `user-agent` of every request to a provider. */
export const USER_AGENT = `promptrun/${packageJson.version}`;

/** A response, as soon as its headers are there. */
export interface HttpAnswer {
  readonly status: number;
  /** Headers by name in lower case; the first value of a repeated one. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body; throws if the connection ends early. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Closes the connection. */
  discard(): void;
}

/** A body that is assembled while it is sent, because it is too large to copy. */
export interface PiecewiseBody {
  /** Total bytes. */
  readonly length: number;
  readonly pieces: Iterable<Uint8Array>;
}

export interface HttpRequest {
  readonly url: URL;
  readonly signal: AbortSignal;
  /** Default GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | PiecewiseBody | undefined;
  /** The proxy; undefined connects directly. */
  readonly proxy?: URL | undefined;
  /**
   * The only addresses to connect to, so that the name is not looked up again; unused with a proxy.
   */
  readonly addresses?: readonly string[] | undefined;
  /** Maximum time to wait for the next piece of the body, in milliseconds; default unlimited. */
  readonly idleTimeoutMs?: number;
  /** PEM certificates to trust instead of the system's, for tests. */
  readonly ca?: string;
}

const OUTGOING_CONNECT_TIMEOUT_MS = 30_000;

/**
 * Sends a request over a new connection and returns the response as soon as its headers have
 * arrived. On a used connection, a server may close it just as the request is written, or send late
 * data that would look like the answer. Follows no redirects and never retries. Only the signal
 * limits the time.
 *
 * @throws {ProxyFault} if the proxy fails
 * @throws {Error} for any other network fault; the signal's reason once it is aborted
 */
export async function openHttp(request: HttpRequest): Promise<HttpAnswer> {
  const { url, signal, method = 'GET', body, proxy, addresses, idleTimeoutMs = 0, ca } = request;
  signal.throwIfAborted();
  const isForwarded = proxy !== undefined && url.protocol === 'http:';

  const agent = await openAgent({
    proxy: isForwarded ? undefined : proxy,
    connectTimeoutMs: OUTGOING_CONNECT_TIMEOUT_MS,
    maxConnections: 1,
    lookup: addresses && !proxy ? createPinnedLookup(addresses) : undefined,
    signal,
    ca,
  });
  try {
    const { default: send } = await import('undici/lib/api/api-request.js');
    const answer = await send.call(agent, {
      ...(isForwarded ? buildProxyTarget(proxy, request) : buildDirectTarget(request)),
      method,
      body: body && 'pieces' in body ? Readable.from(body.pieces) : body,
      signal,
      reset: true,
      headersTimeout: 0,
      bodyTimeout: idleTimeoutMs,
    });
    if (answer.statusCode === 407 && isForwarded) {
      answer.body.on('error', () => {}).destroy();
      throw new ProxyFault(proxy.host, explainProxyRefusal(proxy, 407));
    }

    return toHttpAnswer(answer);
  } catch (error) {
    await agent.destroy();
    throw signal.aborted ? signal.reason : error;
  }
}

interface HttpTarget {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns the target of a direct request. undici takes the TLS server name from the host header.
 */
function buildDirectTarget({ url, headers }: HttpRequest): HttpTarget {
  return {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, ...headers },
  };
}

/**
 * Returns the target of a plain http request through a proxy, which takes the whole URL; many
 * tunnel https only.
 */
function buildProxyTarget(proxy: URL, { url, headers }: HttpRequest): HttpTarget {
  const authorization = buildProxyAuthorization(proxy);
  return {
    origin: proxy.origin,
    path: url.href,
    headers: {
      host: url.host,
      ...headers,
      ...(authorization !== undefined && { 'proxy-authorization': authorization }),
    },
  };
}

function toHttpAnswer({ statusCode, headers, body }: Dispatcher.ResponseData): HttpAnswer {
  // Ignores errors after the last piece was read.
  body.on('error', () => {});
  const headerPairs = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value[0] : value,
  ]);
  return {
    status: statusCode,
    headers: Object.fromEntries(headerPairs) as HttpAnswer['headers'],
    body,
    discard: () => void body.destroy(),
  };
}

/** Returns a look-up that knows these addresses only, whatever the name. */
function createPinnedLookup(addresses: readonly string[]): LookupFunction {
  const pinnedAddresses = addresses.map(address => ({ address, family: isIP(address) }));
  return (_, options, callback) => {
    const [first] = pinnedAddresses;
    if (options.all) {
      callback(null, pinnedAddresses);
    } else {
      callback(null, first?.address ?? '', first?.family ?? 0);
    }
  };
}
