import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isLoopbackHost } from '../../wire/addresses.ts';

/**
 * Returns a check that a `Host` header, ignoring its port, names this service: a loopback name, the
 * bound host, the public URL's host or, with a wildcard address, any address of this machine. Other
 * names are refused to prevent DNS rebinding.
 */
export function createHostMatcher(
  listenHost: string,
  publicUrl: string | undefined,
): (host: string | undefined) => boolean {
  const names = new Set([parseHostName(formatUrlHost(listenHost))]);
  if (publicUrl !== undefined) names.add(new URL(publicUrl).hostname);
  return host => {
    const name = parseHostName(host ?? '');
    if (name === undefined) return false;
    return (
      isLoopbackHost(name) ||
      names.has(name) ||
      (isWildcardAddress(listenHost) && isOwnAddress(name))
    );
  };
}

export function isWildcardAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** Returns a host name or address in the form of a URL. */
export function formatUrlHost(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

/** Returns the normalised host name without port; undefined if it is not a host. */
function parseHostName(host: string): string | undefined {
  if (/[/?#@\\\s]/.test(host) || !URL.canParse(`http://${host}`)) return undefined;
  return new URL(`http://${host}`).hostname.replace(/\.$/, '');
}

/**
 * Returns true for an address of this machine. Addresses change with networks, so they are read
 * each time.
 */
function isOwnAddress(name: string): boolean {
  const interfaces = Object.values(networkInterfaces()).flatMap(each => each ?? []);
  return interfaces.some(({ address }) => formatUrlHost(address) === name);
}
