import { InvalidRequestError } from './errors.ts';
import type { TransportOptions } from './transport.ts';

/** Every value is given, because undici would take a missing one from the environment. */
export interface ProxySettings {
  readonly httpProxy: string;
  readonly httpsProxy: string;
  readonly noProxy: string;
}

/**
 * Proxies as undici takes them; undefined where none is set.
 *
 * @throws {InvalidRequestError} for a proxy that is no URL
 */
export function proxySettings(proxy: TransportOptions['proxy'] = {}): ProxySettings | undefined {
  const httpProxy = proxyUrl(proxy.httpProxy);
  const httpsProxy = proxyUrl(proxy.httpsProxy);
  if (httpProxy === '' && httpsProxy === '') return undefined;
  return { httpProxy, httpsProxy, noProxy: proxy.noProxy ?? '' };
}

// `host:port` without a scheme is as common as the full URL.
function proxyUrl(value = ''): string {
  const trimmed = value.trim();
  if (trimmed === '') return '';
  const url = trimmed.includes('://') ? trimmed : `http://${trimmed}`;
  // The value is not repeated: it may hold a password.
  if (!URL.canParse(url)) throw new InvalidRequestError('the proxy is no URL; give it as http://host:port');
  return url;
}
