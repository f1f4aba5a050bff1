import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isLoopbackHost } from '../../wire/addresses.ts';

/**
 * Whether a `Host` header, its port aside, names this service: loopback names, the host that is listened on, the public
 * URL's, and with a wildcard any address of the machine. A web page of another name must not reach it (DNS rebinding). A
 * request without the header is let through.
 */
export function hostCheck(
  listening: string,
  publicUrl: string | undefined,
): (host: string | undefined) => boolean {
  const names = new Set([nameIn(inUrl(listening))]);
  if (publicUrl !== undefined) names.add(new URL(publicUrl).hostname);
  return host => {
    if (host === undefined) return true;
    const name = nameIn(host);
    if (name === undefined) return false;
    return isLoopbackHost(name) || names.has(name) || (isWildcard(listening) && isOwnAddress(name));
  };
}

export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** A host name or address as a URL writes it. */
export function inUrl(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

/** The host name as URL normalises it, without port; undefined for what is not a host. */
function nameIn(host: string): string | undefined {
  if (/[/?#@\\\s]/.test(host) || !URL.canParse(`http://${host}`)) return undefined;
  return new URL(`http://${host}`).hostname.replace(/\.$/, '');
}

/** Addresses come and go with networks, so they are looked up each time. */
function isOwnAddress(name: string): boolean {
  const interfaces = Object.values(networkInterfaces()).flatMap(each => each ?? []);
  return interfaces.some(({ address }) => inUrl(address) === name);
}
