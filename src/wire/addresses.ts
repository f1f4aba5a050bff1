import { BlockList, isIP } from 'node:net';

/** IPv4 blocks that are private, local, shared, reserved or multicast (RFC 6890 and later). */
const NON_PUBLIC_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/**
 * The block of public IPv6 addresses, and the parts of it that are not public: Teredo, 6to4,
 * documentation.
 */
const PUBLIC_V6 = '2000::/3';
const NON_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const LOOPBACK_V4 = /^127(?:\.\d{1,3}){3}$/;

/** Returns true only for the plain IP address of a host on the public internet. */
export function isPublicAddress(address: string): boolean {
  // A zone, as in fe80::1%eth0, means a network of this machine.
  if (address.includes('%')) return false;

  const version = isIP(address);
  if (version === 4) return !isInBlocks(NON_PUBLIC_V4, address, 'ipv4');
  if (version !== 6) return false;
  return isInBlocks([PUBLIC_V6], address, 'ipv6') && !isInBlocks(NON_PUBLIC_V6, address, 'ipv6');
}

/**
 * Returns true if a host, in the form of `URL.hostname` or a bind address, can only be this
 * machine. Resolves no names.
 */
export function isLoopbackHost(host: string): boolean {
  const name = toBareHost(host);
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '::1' || LOOPBACK_V4.test(name)
  );
}

/**
 * Returns true if a host, in the form of `URL.hostname`, is written as a loopback name or a private
 * address.
 */
export function isPrivateHost(host: string): boolean {
  const name = toBareHost(host);
  return isLoopbackHost(name) || (isIP(name) !== 0 && !isPublicAddress(name));
}

/** Returns true if a text is a URL of the same origin as a base URL. */
export function isSameOrigin(url: string, baseUrl: string): boolean {
  return URL.canParse(url) && new URL(url).origin === new URL(baseUrl).origin;
}

/** Returns an address without the slashes at its end. */
export function withoutTrailingSlashes(address: string): string {
  return address.replace(/(?<!\/)\/+$/, '');
}

/** Returns true if two URLs are the same address; `localhost` and 127.0.0.1 are one host. */
export function isSameAddress(address: string, otherAddress: string): boolean {
  const normaliseUrl = (url: string): string =>
    withoutTrailingSlashes(new URL(url).href).replace('://localhost', '://127.0.0.1');
  return (
    URL.canParse(address) &&
    URL.canParse(otherAddress) &&
    normaliseUrl(address) === normaliseUrl(otherAddress)
  );
}

// `URL` has already converted numbers such as 0x7f.1 to dotted form.
function toBareHost(host: string): string {
  const name = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase();
}

function isInBlocks(blocks: readonly string[], address: string, family: 'ipv4' | 'ipv6'): boolean {
  const list = new BlockList();
  for (const block of blocks) {
    const [network = '', prefix] = block.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list.check(address, family);
}
