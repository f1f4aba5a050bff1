import type { Dispatcher } from 'undici';
import { isLoopbackHost } from '../../../wire/addresses.ts';
import type { Env } from '../../models/environment.ts';

/** A way to `url` through the proxy of the environment, where it names one: Node's own `fetch` knows of none. */
export async function proxyTo(url: string, env: Env): Promise<Dispatcher | undefined> {
  const settings = { httpsProxy: proxyUrl(env, 'HTTPS_PROXY'), httpProxy: proxyUrl(env, 'HTTP_PROXY') };
  // No proxy finds a server on this machine.
  if (isLoopbackHost(new URL(url).hostname)) return undefined;
  if (settings.httpsProxy === '' && settings.httpProxy === '') return undefined;
  const { EnvHttpProxyAgent } = await import('undici');
  // Each is given, empty or not, because a missing one would be taken from the process.
  return new EnvHttpProxyAgent({ ...settings, noProxy: either(env, 'NO_PROXY') });
}

/** `host:port` is as common as the full URL. */
function proxyUrl(env: Env, name: string): string {
  const value = either(env, name);
  return value === '' || value.includes('://') ? value : `http://${value}`;
}

function either(env: Env, name: string): string {
  return (env[name.toLowerCase()] || env[name] || '').trim();
}
