import { isIP, type LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import packageJson from '../../../package.json' with { type: 'json' };
import { openAgent, proxyAuthorization, proxyRefusal } from '../../net/agent.ts';
import { ProxyFault } from '../../net/fault.ts';

/** What every request to a provider says of who sends it. */
export const USER_AGENT = `promptrun/${packageJson.version}`;

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case; the first value of a header that comes twice. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Ends with an error where the connection does before the body does. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Drops the connection. */
  discard(): void;
}

/** A body that is put together while it is sent, because it is too large to be held twice. */
export interface PiecewiseBody {
  /** Bytes in all. */
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
  /** The proxy to go through; undefined goes straight. */
  readonly proxy?: URL | undefined;
  /** The only addresses the host may be reached at, so that its name is not looked up again; not used with a proxy. */
  readonly addresses?: readonly string[] | undefined;
  /** How long the next piece of the answer may take once its head is there, in milliseconds; default for ever. */
  readonly idleMs?: number;
  /** PEM certificates to trust in place of the system's, for tests. */
  readonly ca?: string;
}

const CONNECT_TIMEOUT_MS = 30_000;

/**
 * Sends one request over a connection of its own and returns its answer as soon as the head is there. Follows no redirect
 * and sends nothing twice. How long the answer may take is up to the signal.
 *
 * @throws {ProxyFault} for a fault of the proxy
 * @throws {Error} for any other fault on the way; the signal's reason once it is aborted
 */
export async function openHttp(request: HttpRequest): Promise<HttpAnswer> {
  const { url, signal, method = 'GET', body, proxy, addresses, idleMs = 0, ca } = request;
  signal.throwIfAborted();
  const isForwarded = proxy !== undefined && url.protocol === 'http:';
  const agent = await openAgent({
    proxy: isForwarded ? undefined : proxy,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    lookup: addresses && !proxy ? pinnedTo(addresses) : undefined,
    signal,
    ca,
  });
  try {
    const { default: send } = await import('undici/lib/api/api-request.js');
    const answer = await send.call(agent, {
      ...(isForwarded ? forwardedBy(proxy, request) : target(request)),
      method,
      body: body && 'pieces' in body ? Readable.from(body.pieces) : body,
      signal,
      reset: true,
      headersTimeout: 0,
      bodyTimeout: idleMs,
    });
    if (answer.statusCode === 407 && isForwarded) {
      answer.body.on('error', () => {}).destroy();
      throw new ProxyFault(proxy.host, proxyRefusal(proxy, 407));
    }
    return httpAnswer(answer);
  } catch (error) {
    await agent.destroy();
    throw signal.aborted ? signal.reason : error;
  }
}

interface Target {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** undici names the host in TLS as this header does. */
function target({ url, headers }: HttpRequest): Target {
  return {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    headers: { host: url.host, ...headers },
  };
}

/** Proxies take plain http by the whole URL; many make tunnels for https only. */
function forwardedBy(proxy: URL, { url, headers }: HttpRequest): Target {
  const authorization = proxyAuthorization(proxy);
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

function httpAnswer({ statusCode, headers, body }: Dispatcher.ResponseData): HttpAnswer {
  // What fails after the last piece was read concerns nobody.
  body.on('error', () => {});
  const first = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value[0] : value,
  ]);
  return {
    status: statusCode,
    headers: Object.fromEntries(first) as HttpAnswer['headers'],
    body,
    discard: () => void body.destroy(),
  };
}

function pinnedTo(addresses: readonly string[]): LookupFunction {
  const all = addresses.map(address => ({ address, family: isIP(address) }));
  return (_, options, callback) => {
    const [first] = all;
    if (options.all) callback(null, all);
    else callback(null, first?.address ?? '', first?.family ?? 0);
  };
}

/**
 * Reads the whole body; `onBytes` is called with the length of each piece of it.
 *
 * @throws {TooLong} once it is longer than `maxBytes`; the connection is dropped then
 * @throws what `onBytes` throws
 */
export async function readBody(
  answer: HttpAnswer,
  maxBytes: number,
  onBytes?: (count: number) => void,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of boundedBody(answer, maxBytes)) {
    onBytes?.(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The body as it comes, with the same bound. */
export async function* boundedBody(answer: HttpAnswer, maxBytes: number): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of answer.body) {
    length += chunk.length;
    if (length > maxBytes) {
      answer.discard();
      throw new TooLong(maxBytes);
    }
    yield chunk;
  }
}

/** A body that is longer than was to be read. */
export class TooLong extends Error {
  override readonly name = 'TooLong';

  constructor(maxBytes: number, what = 'it') {
    const kibibytes = Math.floor(maxBytes / 1024);
    const bound = kibibytes < 1024 ? `${kibibytes} KiB` : `${Math.floor(kibibytes / 1024)} MiB`;
    super(`${what} is larger than ${bound}`);
  }
}
