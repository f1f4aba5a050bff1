import type { Dispatcher, EnvHttpProxyAgent } from 'undici';
import type connect from 'undici/lib/api/api-connect.js';
import { InvalidRequestError } from './errors.ts';
import { causeOf, codeOf, isAboutCertificate, ProxyFault } from './network-fault.ts';
import type { ProxyVariables } from './transport.ts';

type TunnelOptions = Parameters<typeof connect>[0];

/**
 * Proxies as undici takes them; undefined where none is set.
 *
 * @throws {InvalidRequestError} for a proxy that is not a URL, or not one of http or https
 */
export function proxySettings(proxy: ProxyVariables = {}): Required<ProxyVariables> | undefined {
  const httpProxy = proxyUrl('HTTP_PROXY', proxy.httpProxy);
  const httpsProxy = proxyUrl('HTTPS_PROXY', proxy.httpsProxy);
  if (httpProxy === '' && httpsProxy === '') return undefined;
  // undici would take a missing one from the environment.
  return { httpProxy, httpsProxy, noProxy: proxy.noProxy ?? '' };
}

/** Makes agents that find their way through the proxy, or past it. */
export async function loadProxyAgents(
  settings: Required<ProxyVariables>,
  connectTimeoutMs: number,
): Promise<(options: EnvHttpProxyAgent.Options) => Dispatcher> {
  const [{ default: ProxyAgent }, { default: Pool }, { default: tunnel }] = await Promise.all([
    import('undici/lib/dispatcher/env-http-proxy-agent.js'),
    import('undici/lib/dispatcher/pool.js'),
    import('undici/lib/api/api-connect.js'),
  ]);
  const connect = { timeout: connectTimeoutMs };
  const clientFactory = (proxy: URL, options: object): Dispatcher => {
    const pool = new Pool(proxy.origin, options);
    // undici would ask again for ever where the proxy closes the connection, and says nothing of its answer.
    const open = (target: TunnelOptions): Promise<Dispatcher.ConnectData> =>
      opened(proxy, tunnel.call(pool, { ...target, headersTimeout: connectTimeoutMs }));
    return Object.assign(pool, { connect: open });
  };
  return options =>
    new ProxyAgent({
      ...settings,
      ...options,
      connect,
      requestTls: connect,
      proxyTls: connect,
      clientFactory,
    });
}

async function opened(proxy: URL, tunnel: Promise<Dispatcher.ConnectData>): Promise<Dispatcher.ConnectData> {
  const { statusCode, socket, ...rest } = await tunnel.catch((error: unknown) => {
    const closed = codeOf(error) === 'UND_ERR_SOCKET';
    throw new ProxyFault(proxy.host, closed ? 'it closed the connection' : causeOf(error), {
      mayPass: !isAboutCertificate(error),
      cause: error,
    });
  });
  if (statusCode === 200) return { statusCode, socket, ...rest };
  socket.on('error', () => {}).destroy();
  throw new ProxyFault(proxy.host, refusal(proxy, statusCode), { mayPass: statusCode >= 500 });
}

function refusal({ username }: URL, status: number): string {
  if (status !== 407) return `it answered with HTTP ${status}`;
  return username === ''
    ? 'it wants a name and password (HTTP 407); give them as in HTTPS_PROXY=http://name:password@host:port'
    : 'it does not accept the name and password in its URL (HTTP 407)';
}

// `host:port` without a scheme is as common as the full URL. The value is not repeated: it may hold a password.
function proxyUrl(name: string, value = ''): string {
  const trimmed = value.trim();
  if (trimmed === '') return '';
  const url = trimmed.includes('://') ? trimmed : `http://${trimmed}`;
  if (!URL.canParse(url)) {
    throw new InvalidRequestError(`the proxy in ${name} is not a URL; give it as http://host:port`);
  }
  const { protocol } = new URL(url);
  if (protocol === 'http:' || protocol === 'https:') return url;
  throw new InvalidRequestError(
    `the proxy in ${name} is a ${protocol} one, which is not supported; give an http:// or https:// proxy, or unset it`,
  );
}
