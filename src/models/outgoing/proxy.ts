import { isLoopbackHost } from '../../wire/addresses.ts';

/** Environment variables by name. */
export type Env = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment names for a URL; undefined where it names none, or `NO_PROXY` excepts the host. A
 * server on this machine is always reached directly.
 *
 * @throws {Error} for a proxy of another kind than HTTP, without repeating its password
 */
export function proxyFor(url: URL, env: Env): URL | undefined {
  if (isLoopbackHost(url.hostname) || isExcepted(url, variable(env, 'NO_PROXY'))) return undefined;
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const value = variable(env, name);
  return value === '' ? undefined : proxyUrl(value, name);
}

/** `host:port` without a scheme is as common as the full URL. */
function proxyUrl(value: string, name: string): URL {
  const text = value.includes('://') ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  const kind = url ? `${url.protocol.slice(0, -1)} proxies can't be used` : 'it is not a URL';
  throw new Error(`${name}: ${kind}; give it as http://host:port`);
}

/** The lower-case form wins, as with other tools. */
function variable(env: Env, name: string): string {
  return (env[name.toLowerCase()] || env[name] || '').trim();
}

/** Whether a list such as `example.com,.internal:8080,*` names the host or a domain that it belongs to. */
function isExcepted({ hostname, port, protocol }: URL, list: string): boolean {
  const ownPort = port || (protocol === 'https:' ? '443' : '80');
  const host = hostname.toLowerCase();
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(entry => entry !== '')
    .some(entry => {
      const [, name = '', wantedPort] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [];
      const domain = name.replace(/^\*?\./, '');
      if (wantedPort !== undefined && wantedPort !== ownPort) return false;
      return domain === '*' || (domain !== '' && (host === domain || host.endsWith(`.${domain}`)));
    });
}
