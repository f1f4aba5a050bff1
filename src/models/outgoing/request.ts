import http, { type IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import tls from 'node:tls';
import packageJson from '../../../package.json' with { type: 'json' };
import { messageOf } from '../../files/error-utils.ts';

/** What every request to a provider says of who sends it. */
export const USER_AGENT = `promptrun/${packageJson.version}`;

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Ends with an error where the connection does before the body does. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Drops the connection. */
  discard(): void;
}

export interface HttpRequest {
  readonly url: URL;
  readonly signal: AbortSignal;
  /** Default GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** The proxy to go through; undefined goes straight. */
  readonly proxy?: URL | undefined;
  /** The only addresses the host may be reached at, so that its name is not looked up again; not used with a proxy. */
  readonly addresses?: readonly string[] | undefined;
  /** PEM certificates to trust besides those of the system, for tests. */
  readonly ca?: string;
}

/** For a connection, proxy and TLS included, in milliseconds. */
const CONNECT_TIMEOUT_MS = 30_000;

/**
 * Sends one request and gives its answer as soon as its head is there. Follows no redirect and sends nothing twice.
 *
 * @throws {ProxyFault} for a fault of the proxy
 * @throws {Error} what Node says of any other fault on the way
 */
export async function openHttp(request: HttpRequest): Promise<HttpAnswer> {
  const connecting = new AbortController();
  const timer = setTimeout(() => connecting.abort(new Error('no connection in 30 s')), CONNECT_TIMEOUT_MS);
  const signal = AbortSignal.any([request.signal, connecting.signal]);
  try {
    return await answerOf(await prepare(request, signal), request, () => clearTimeout(timer));
  } catch (error) {
    throw connecting.signal.aborted && !request.signal.aborted ? (connecting.signal.reason as Error) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** A request that is not sent yet: straight, through a tunnel, or as proxies take plain http. */
async function prepare(request: HttpRequest, signal: AbortSignal): Promise<http.ClientRequest> {
  const { url, method = 'GET', proxy, addresses, ca } = request;
  const headers = { host: url.host, ...request.headers };
  const common = { method, path: `${url.pathname}${url.search}`, headers, agent: false as const, signal };
  const trusted = ca === undefined ? {} : { ca };
  if (!proxy) {
    const pinned = addresses === undefined ? {} : { lookup: pinnedTo(addresses) };
    const where = { ...addressOf(url), ...pinned, servername: serverName(url) };
    return url.protocol === 'https:'
      ? https.request({ ...common, ...where, ...trusted })
      : http.request({ ...common, ...where });
  }
  if (url.protocol === 'http:') {
    const { request: send } = proxy.protocol === 'https:' ? https : http;
    const proxied = { ...headers, ...proxyAuthorization(proxy) };
    return send({ ...common, ...addressOf(proxy), path: url.href, headers: proxied });
  }
  const { host, port } = addressOf(url);
  const socket = await openTunnel(proxy, `${host.includes(':') ? `[${host}]` : host}:${port}`, signal);
  const secure = tls.connect({ socket, servername: serverName(url), ...trusted });
  // The request hears of the first error; a later one, or one of the tunnel below, would end the process.
  for (const stream of [socket, secure]) stream.on('error', () => undefined);
  // An agent, even one of its own, would connect by itself.
  return http.request({ method, path: common.path, headers, signal, createConnection: () => secure });
}

/** An address has no name that a certificate could be asked for by. */
function serverName(url: URL): string {
  const { host } = addressOf(url);
  return isIP(host) === 0 ? host : '';
}

function answerOf(
  outgoing: http.ClientRequest,
  { url, body, proxy }: HttpRequest,
  onConnected: () => void,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.on('socket', socket => {
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', onConnected);
    });
    outgoing.on('response', incoming => {
      const status = incoming.statusCode ?? 0;
      if (status === 407 && proxy) {
        outgoing.destroy();
        return reject(new ProxyFault(`the proxy ${proxy.host} ${refusal(status, url.host)}`));
      }
      const discard = (): void => void outgoing.destroy();
      resolve({ status, headers: incoming.headers, body: incoming, discard });
    });
    outgoing.end(body);
  });
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
 * The whole body; `onBytes` is called with the length of each piece of it.
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
    super(`${what} is larger than ${Math.floor(maxBytes / (1024 * 1024))} MiB`);
  }
}

/** A proxy that does not lead on. The message names the proxy, without its password. */
export class ProxyFault extends Error {
  override readonly name = 'ProxyFault';
}

/**
 * A connection through a proxy to `host:port` (CONNECT).
 *
 * @throws {ProxyFault} where the proxy refuses, can't be reached or goes away
 */
export function openTunnel(proxy: URL, target: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (what: string): void => reject(new ProxyFault(`the proxy ${proxy.host} ${what}`));
    const { request } = proxy.protocol === 'https:' ? https : http;
    const outgoing = request({
      ...addressOf(proxy),
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...proxyAuthorization(proxy) },
      agent: false,
      signal,
    });
    outgoing.on('connect', (answer, socket) => {
      if (answer.statusCode === 200) return resolve(socket);
      socket.destroy();
      fail(refusal(answer.statusCode ?? 0, target));
    });
    outgoing.on('response', answer => {
      outgoing.destroy();
      fail(refusal(answer.statusCode ?? 0, target));
    });
    outgoing.on('error', error => fail(`can't be used: ${messageOf(error)}`));
    outgoing.on('close', () => fail('closed the connection before it led anywhere'));
    outgoing.end();
  });
}

/** What a proxy's status means. */
export function refusal(status: number, target: string): string {
  if (status === 407) return 'wants a name and a password: give it as http://name:password@host:port';
  return `refuses to lead to ${target} (it answered ${status})`;
}

/** Host and port as Node's requests take them. */
export function addressOf({ hostname, port, protocol }: URL): { host: string; port: number } {
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  };
}

/** The header that carries the name and password of a proxy's URL; none where it has none. */
export function proxyAuthorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}
