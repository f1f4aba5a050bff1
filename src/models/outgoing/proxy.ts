import { findProxy, readProxyVariables } from '../../net/proxy.ts';
import type { Env } from '../../utils/env.ts';
import { isLoopbackHost } from '../../wire/addresses.ts';

/**
 * Returns the proxy that the environment names for a URL; a server on this machine is always
 * reached directly.
 *
 * @throws {ProxySettingError} if that proxy can't be used
 */
export function findOutgoingProxy(url: URL, env: Env): URL | undefined {
  return isLoopbackHost(url.hostname) ? undefined : findProxy(url, readProxyVariables(env));
}
