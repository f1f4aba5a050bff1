/** Matches an entry of `NO_PROXY`: a host or `[IPv6]`, and perhaps a port. */
const NO_PROXY_ENTRY = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/;

/** Matches an IPv6 address without brackets, such as `::1`: a host and a port have one colon. */
const BARE_IPV6_ADDRESS = /^[^[\]:]*:[^[\]:]*:[^[\]]*$/;

/** Proxy settings from the environment variables of these names. */
export interface ProxyVariables {
  readonly httpsProxy?: string;
  readonly httpProxy?: string;
  readonly noProxy?: string;
}

/** A proxy in the environment can't be used. The message names the variable but not its value. */
export class ProxySettingError extends Error {
  override readonly name = 'ProxySettingError';
}

/**
 * Reads the proxy settings. As in curl, lower-case names win, and `HTTP_PROXY` is ignored in CGI
 * scripts, where the web server sets it from a request header.
 */
export function readProxyVariables(
  env: Readonly<Record<string, string | undefined>>,
): ProxyVariables {
  const httpsProxy = env['https_proxy'] || env['HTTPS_PROXY'];
  const httpProxy =
    env['http_proxy'] || (env['REQUEST_METHOD'] === undefined ? env['HTTP_PROXY'] : undefined);
  const noProxy = env['no_proxy'] || env['NO_PROXY'];

  return {
    ...(httpsProxy && { httpsProxy }),
    ...(httpProxy && { httpProxy }),
    ...(noProxy && { noProxy }),
  };
}

/**
 * Returns the proxy for the URL's scheme; undefined if there is none or `noProxy` excludes the
 * host.
 *
 * @throws {ProxySettingError} if the setting is not the URL of an http or https proxy
 */
export function findProxy(
  url: URL,
  { httpsProxy, httpProxy, noProxy = '' }: ProxyVariables,
): URL | undefined {
  if (isExcepted(url, noProxy)) return undefined;
  return url.protocol === 'https:'
    ? parseProxyUrl('HTTPS_PROXY', httpsProxy)
    : parseProxyUrl('HTTP_PROXY', httpProxy);
}

/** @throws {ProxySettingError} for the first proxy that can't be used */
export function checkProxies({ httpsProxy, httpProxy }: ProxyVariables): void {
  parseProxyUrl('HTTPS_PROXY', httpsProxy);
  parseProxyUrl('HTTP_PROXY', httpProxy);
}

// `host:port` without a scheme is common too. Messages don't repeat the value, because it may hold
// a password.
function parseProxyUrl(name: string, value = ''): URL | undefined {
  const trimmed = value.trim();
  if (trimmed === '') return undefined;

  const text = trimmed.includes('://') ? trimmed : `http://${trimmed}`;
  if (!URL.canParse(text)) {
    throw new ProxySettingError(`the proxy in ${name} is not a URL; give it as http://host:port`);
  }

  const url = new URL(text);
  if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  throw new ProxySettingError(
    `the proxy in ${name} uses ${url.protocol}, which is not supported; give an http:// or https:// proxy, or unset it`,
  );
}

/**
 * Returns true if a list such as `example.com,.internal:8080,*` names the host or one of its parent
 * domains.
 */
function isExcepted({ hostname, port, protocol }: URL, list: string): boolean {
  const targetPort = port || (protocol === 'https:' ? '443' : '80');
  const host = hostname.toLowerCase();
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(entry => entry !== '')
    .some(entry => {
      if (BARE_IPV6_ADDRESS.test(entry)) return host === `[${entry}]`;
      const [, name = '', entryPort] = NO_PROXY_ENTRY.exec(entry) ?? [];
      const domain = name.replace(/^\*?\./, '');
      if (entryPort !== undefined && entryPort !== targetPort) return false;
      return domain === '*' || (domain !== '' && (host === domain || host.endsWith(`.${domain}`)));
    });
}
