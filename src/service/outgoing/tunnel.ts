import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { messageOf } from '../../files/error-utils.ts';

/** A proxy that does not lead on. The message names the proxy, without its password. */
export class ProxyFault extends Error {
  override readonly name = 'ProxyFault';
}

/**
 * A connection through a proxy to `host:port` (CONNECT).
 *
 * @throws {ProxyFault} where the proxy refuses, can't be reached or goes away
 */
export function openTunnel(proxy: URL, target: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (what: string): void => reject(new ProxyFault(`the proxy ${proxy.host} ${what}`));
    const { request } = proxy.protocol === 'https:' ? https : http;
    const outgoing = request({
      ...addressOf(proxy),
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...proxyAuthorization(proxy) },
      agent: false,
      signal,
    });
    outgoing.on('connect', (answer, socket) => {
      if (answer.statusCode === 200) return resolve(socket);
      socket.destroy();
      fail(refusal(answer.statusCode ?? 0, target));
    });
    outgoing.on('response', answer => {
      outgoing.destroy();
      fail(refusal(answer.statusCode ?? 0, target));
    });
    outgoing.on('error', error => fail(`can’t be used: ${messageOf(error)}`));
    outgoing.on('close', () => fail('closed the connection before it led anywhere'));
    outgoing.end();
  });
}

/** What a proxy's status means. */
export function refusal(status: number, target: string): string {
  if (status === 407) return 'wants a name and a password: give it as http://name:password@host:port';
  return `refuses to lead to ${target} (it answered ${status})`;
}

/** Host and port as Node's requests take them. */
export function addressOf({ hostname, port, protocol }: URL): { host: string; port: number } {
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  };
}

/** The header that carries the name and password of a proxy's URL; none where it has none. */
export function proxyAuthorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}
