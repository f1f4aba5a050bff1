import { isIP } from 'node:net';
import { ProtocolError } from './errors.ts';

/** Where a media URL came from. */
export interface MediaUrlSource {
  /** The service that named the URL. */
  readonly baseUrl: string;
  /** The URL that redirected to it; undefined for the first. */
  readonly from?: URL;
}

/**
 * A media URL that may be fetched: of the service's own origin; https; or plain http between loopback addresses. A
 * service on a public address can't send the client to a private one, and a redirect never leaves https.
 *
 * @throws {ProtocolError} for any other, naming it
 */
export function checkedMediaUrl(given: string, { baseUrl, from }: MediaUrlSource): URL {
  if (!URL.canParse(given, from?.href)) {
    throw new ProtocolError(`${JSON.stringify(given)} is no URL of media`);
  }
  const url = new URL(given, from);
  const service = new URL(baseUrl);
  const fault = faultOf(url, service, from);
  if (fault !== undefined) {
    throw new ProtocolError(`${url.protocol}//${url.host}${url.pathname} is not fetched: ${fault}`);
  }
  return url;
}

function faultOf(url: URL, service: URL, from: URL | undefined): string | undefined {
  if (url.username !== '' || url.password !== '') return 'it holds a user name or password';
  if (from?.protocol === 'https:' && url.protocol !== 'https:') {
    return 'it is redirected from https to plain http';
  }
  if (url.origin === service.origin && url.origin !== 'null') return undefined;
  if (url.protocol === 'http:' && isLoopback(url) && isLoopback(service)) return undefined;
  if (url.protocol !== 'https:') return 'media come over https only';
  return isPrivate(url) && !isPrivate(service) ? 'it leads into a private network' : undefined;
}

function isLoopback(url: URL): boolean {
  const host = hostOf(url);
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || host.startsWith('127.');
}

/** Whether the host is written as an address that is not public. Names are not looked up. */
function isPrivate(url: URL): boolean {
  const host = hostOf(url);
  if (isLoopback(url)) return true;
  if (isIP(host) === 4) return isPrivateV4(host);
  return isIP(host) === 6 && isPrivateV6(host);
}

function isPrivateV4(host: string): boolean {
  const [first = 0, second = 0] = host.split('.').map(Number);
  if ([0, 10, 127].includes(first) || first >= 224) return true;
  if (first === 100) return second >= 64 && second < 128;
  if (first === 169) return second === 254;
  if (first === 172) return second >= 16 && second < 32;
  return first === 192 && second === 168;
}

// Of IPv6 only global unicast is public; IPv4 addresses mapped or translated into it may be anything.
function isPrivateV6(host: string): boolean {
  return !/^[23][0-9a-f]{3}:/.test(host) || host.startsWith('2002:');
}

// URL has normalised numbers such as 0x7f.1 to dotted form already.
function hostOf(url: URL): string {
  return url.hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}
