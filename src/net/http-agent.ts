import type { LookupFunction, Socket } from 'node:net';
import type { Agent, buildConnector, Dispatcher } from 'undici';
import type openTunnel from 'undici/lib/api/api-connect.js';
import {
  explainConnectionFault,
  findFaultCode,
  isCertificateFault,
  ProxyFault,
} from './connection-fault.ts';

export interface AgentOptions {
  /** The proxy that every connection tunnels through; undefined connects directly. */
  readonly proxy?: URL | undefined;
  /** Maximum time to connect, tunnel and TLS included, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** The time for which idle connections are kept; default: undici's. */
  readonly keepAlive?: Pick<
    Agent.Options,
    'keepAliveTimeout' | 'keepAliveMaxTimeout' | 'keepAliveTimeoutThreshold'
  >;
  /** Maximum number of connections to a server at once; default unlimited. Unused with a proxy. */
  readonly maxConnections?: number;
  /** Closes all connections when aborted, including those that are being made. */
  readonly signal?: AbortSignal;
  /**
   * Resolves host names instead of the system; not used with a proxy, which resolves them itself.
   */
  readonly lookup?: LookupFunction | undefined;
  /** PEM certificates to trust instead of the system's, for tests. */
  readonly ca?: string | undefined;
}

type Connector = (target: buildConnector.Options, callback: buildConnector.Callback) => Socket;
type TunnelOptions = Parameters<typeof openTunnel>[0];

/** Loads undici and returns a dispatcher for connections of this kind. */
export async function openAgent(options: AgentOptions): Promise<Dispatcher> {
  const {
    proxy,
    keepAlive,
    maxConnections,
    connectTimeoutMs: timeout,
    lookup,
    ca,
    signal,
  } = options;
  const connectOptions = { timeout, ...(ca !== undefined && { ca }) };
  if (proxy) return await createTunnelAgent(proxy, connectOptions, options);

  const [{ default: Agent }, { default: createConnector }] = await Promise.all([
    import('undici/lib/dispatcher/agent.js'),
    import('undici/lib/core/connect.js'),
  ]);
  const connect = createConnector({ ...connectOptions, ...(lookup && { lookup }) });

  return new Agent({
    ...keepAlive,
    ...(maxConnections !== undefined && { connections: maxConnections }),
    connect: createAbortableConnector(signal, connect),
  });
}

async function createTunnelAgent(
  proxy: URL,
  connectOptions: { readonly timeout: number },
  { keepAlive, signal }: AgentOptions,
): Promise<Dispatcher> {
  const [{ default: ProxyAgent }, { default: Pool }, { default: openTunnel }] = await Promise.all([
    import('undici/lib/dispatcher/proxy-agent.js'),
    import('undici/lib/dispatcher/pool.js'),
    import('undici/lib/api/api-connect.js'),
  ]);

  const clientFactory = (_: URL, { connect }: { readonly connect?: Connector }): Dispatcher => {
    const pool = new Pool(
      proxy.origin,
      connect && { connect: createAbortableConnector(signal, connect) },
    );
    // undici itself would retry forever if the proxy closes the connection, and hides the proxy's
    // answer.
    const openCheckedTunnel = (target: TunnelOptions): Promise<Dispatcher.ConnectData> =>
      checkTunnel(
        proxy,
        openTunnel.call(pool, { ...target, headersTimeout: connectOptions.timeout }),
      );
    return Object.assign(pool, { connect: openCheckedTunnel });
  };

  const token = buildProxyAuthorization(proxy);
  return new ProxyAgent({
    uri: proxy.href,
    ...(token !== undefined && { token }),
    ...keepAlive,
    requestTls: connectOptions,
    proxyTls: { timeout: connectOptions.timeout },
    clientFactory,
  });
}

async function checkTunnel(
  proxy: URL,
  tunnel: Promise<Dispatcher.ConnectData>,
): Promise<Dispatcher.ConnectData> {
  const { statusCode, socket, ...rest } = await tunnel.catch((error: unknown) => {
    const isClosed = findFaultCode(error) === 'UND_ERR_SOCKET';
    throw new ProxyFault(
      proxy.host,
      isClosed ? 'it closed the connection' : explainConnectionFault(error),
      { isRetryable: !isCertificateFault(error), cause: error },
    );
  });
  if (statusCode === 200) return { statusCode, socket, ...rest };
  socket.on('error', () => {}).destroy();
  throw new ProxyFault(proxy.host, explainProxyRefusal(proxy, statusCode), {
    isRetryable: statusCode >= 500,
  });
}

/**
 * Wraps a connector so that `signal` also ends connections that are being made, which undici
 * doesn't do.
 */
function createAbortableConnector(signal: AbortSignal | undefined, connect: Connector): Connector {
  if (!signal) return connect;
  return (target, callback) => {
    const socket = connect(target, callback);
    const destroySocket = (): void => void socket.destroy(signal.reason as Error);
    signal.addEventListener('abort', destroySocket, { once: true });
    socket.once('close', () => signal.removeEventListener('abort', destroySocket));
    if (signal.aborted) destroySocket();
    return socket;
  };
}

/**
 * Returns the `Proxy-Authorization` header for the name and password in a proxy's URL; undefined if
 * it has neither.
 */
export function buildProxyAuthorization({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const credentials = `${tryDecodePercent(username)}:${tryDecodePercent(password)}`;
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

/** Decodes percent-encoding; returns the text unchanged if it has a stray `%`. */
function tryDecodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Explains why a proxy refused a tunnel. */
export function explainProxyRefusal({ username }: URL, status: number): string {
  if (status !== 407) return `it answered with HTTP ${status}`;
  return username === ''
    ? 'it requires a name and password (HTTP 407); set them as in HTTPS_PROXY=http://name:password@host:port'
    : 'it does not accept the name and password in its URL (HTTP 407)';
}
