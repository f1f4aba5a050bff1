import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isLoopbackHost } from '../../wire/addresses.ts';

/** Knows which names this service is meant by; a web page of another name must not reach it (DNS rebinding). */
export interface HostCheck {
  /** Whether a `Host` header, its port aside, names this service. A request without one is let through. */
  allows(host: string | undefined): boolean;
}

/** Loopback names, the host that is listened on, the public URL's, and with a wildcard any address of the machine. */
export function hostCheck(listening: string, publicUrl: string | undefined): HostCheck {
  const known = new Set([nameIn(inUrl(listening))]);
  if (publicUrl !== undefined) known.add(new URL(publicUrl).hostname);
  const isKnown = (host: string): boolean => {
    const name = nameIn(host);
    return name !== undefined && (isLoopbackHost(name) || known.has(name));
  };
  // Nearly every request comes under the same name.
  let lastAllowed: string | undefined;
  return {
    allows(host) {
      if (host === undefined || host === lastAllowed) return true;
      if (!isKnown(host)) return isWildcard(listening) && isOwnAddress(nameIn(host));
      lastAllowed = host;
      return true;
    },
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
function isOwnAddress(name: string | undefined): boolean {
  const interfaces = Object.values(networkInterfaces()).flatMap(each => each ?? []);
  return interfaces.some(({ address }) => inUrl(address) === name);
}
