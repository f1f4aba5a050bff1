import { Agent, type RequestOptions, request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';

export interface HttpAnswer {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
  /** Drops the connection. */
  discard(): void;
}

/** Opens an https URL at one of the given addresses and no other. */
export type OpenUrl = (url: URL, addresses: readonly string[], signal: AbortSignal) => Promise<HttpAnswer>;

/** The name is not looked up again, so that it can't lead elsewhere than where it was checked. */
export const openUrl: OpenUrl = (url, addresses, signal) => openPinned(url, addresses, { signal });

export function openPinned(
  url: URL,
  addresses: readonly string[],
  options: RequestOptions,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      ...options,
      agent: new Agent({ keepAlive: false }),
      lookup: pinned(addresses),
      headers: { accept: 'image/*', 'accept-encoding': 'identity', 'user-agent': 'promptrun' },
    });
    outgoing.on('error', reject);
    outgoing.on('response', incoming => {
      resolve({
        status: incoming.statusCode ?? 0,
        location: incoming.headers.location,
        body: incoming,
        discard: () => outgoing.destroy(),
      });
    });
    outgoing.end();
  });
}

function pinned(addresses: readonly string[]): LookupFunction {
  const all = addresses.map(address => ({ address, family: isIP(address) }));
  return (_, options, callback) => {
    const [first] = all;
    if (options.all) callback(null, all);
    else callback(null, first?.address ?? '', first?.family ?? 0);
  };
}
