import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FetchImageOptions, fetchImage } from '../../../src/models/outgoing/fetch-image.ts';
import { openHttp } from '../../../src/models/outgoing/open-http.ts';
import { certificate } from '../../support/certificates/certificate.ts';
import { png } from '../../support/png.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let origin: string;
let handler: Handler;
const requestedUrls: string[] = [];

/**
 * The host names that were looked up, the addresses that connections were pinned to, and their
 * server names.
 */
const lookedUpHosts: string[] = [];
const pinnedAddresses: string[] = [];
const serverNames: unknown[] = [];

beforeEach(async () => {
  for (const list of [requestedUrls, lookedUpHosts, pinnedAddresses, serverNames]) list.length = 0;

  server = createServer(certificate, (request, response) => {
    serverNames.push((request.socket as TLSSocket).servername);
    requestedUrls.push(`${request.headers.host?.split(':')[0]}${request.url}`);
    handler(request, response);
  });

  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  origin = `https://pictures.example:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise(resolve => server.close(resolve));
});

/** Returns options by which names lead to public addresses, and those to the server of the test. */
function buildOptions(addresses: Record<string, string[]> = {}): FetchImageOptions {
  return {
    signal: new AbortController().signal,
    resolve: async host => {
      lookedUpHosts.push(host);
      const resolvedAddresses =
        addresses[host] ?? (host.endsWith('pictures.example') ? ['93.184.215.14'] : undefined);
      if (!resolvedAddresses) throw new Error('ENOTFOUND');
      return resolvedAddresses;
    },
    open: request => {
      pinnedAddresses.push(...(request.addresses ?? []));
      return openHttp({ ...request, addresses: ['127.0.0.1'], ca: certificate.cert });
    },
  };
}

const redirect =
  (location: string, status = 302): Handler =>
  (_, response) => {
    response.writeHead(status, { location }).end();
  };

describe('fetching a picture', () => {
  it('returns its bytes, over a connection pinned to the address that was checked', async () => {
    const picture = png(3, 3);
    handler = (_, response) => void response.end(picture);
    expect(await fetchImage(`${origin}/a.png`, buildOptions())).toEqual(picture);
    expect(lookedUpHosts).toEqual(['pictures.example']);
    expect(pinnedAddresses).toEqual(['93.184.215.14']);
  });

  it('sends no header that says who asks', async () => {
    let headers: string[] = [];
    handler = (request, response) => {
      headers = Object.keys(request.headers);
      response.end('x');
    };
    await fetchImage(`${origin}/`, buildOptions());
    expect(headers.sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ]);
  });

  it('follows redirects and checks each again', async () => {
    const picture = png(1, 1);
    handler = (request, response) => {
      if (request.url === '/c') {
        response.end(picture);
      } else {
        redirect(request.url === '/a' ? '/b' : `${origin.replace('pictures', 'more.pictures')}/c`)(
          request,
          response,
        );
      }
    };

    expect(await fetchImage(`${origin}/a`, buildOptions())).toEqual(picture);
    expect({ requestedUrls, lookedUpHosts, serverNames }).toEqual({
      requestedUrls: ['pictures.example/a', 'pictures.example/b', 'more.pictures.example/c'],
      lookedUpHosts: ['pictures.example', 'pictures.example', 'more.pictures.example'],
      serverNames: ['pictures.example', 'pictures.example', 'more.pictures.example'],
    });
  });

  it.each([
    ['http://pictures.example/a.png', /https/],
    ['https://127.0.0.1/a.png', /public/],
    ['https://[::1]/a.png', /public/],
    ['https://169.254.169.254/latest/meta-data', /public/],
    ['https://inside.pictures.example/a.png', /public/],
    ['https://nowhere.example/a.png', /can't be found/],
    ['file:///etc/passwd', /https/],
  ])('refuses a redirect to %s', async (target, reason) => {
    handler = redirect(target);
    const inside = buildOptions({ 'inside.pictures.example': ['10.0.0.1'] });
    await expect(fetchImage(`${origin}/`, inside)).rejects.toThrow(reason);
    expect(requestedUrls).toEqual(['pictures.example/']);
  });

  it.each([
    'http://pictures.example/',
    'ftp://pictures.example/',
    'data:image/png;base64,AAAA',
    'https://',
    'no url',
    'https://user@pictures.example/',
    'https://localhost.pictures.example/',
    'https://mixed.pictures.example/',
    'https://none.pictures.example/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0/',
    'https://[::ffff:10.0.0.1]/',
  ])('refuses %s before anything is sent', async url => {
    const inside = buildOptions({
      'localhost.pictures.example': ['127.0.0.1'],
      'mixed.pictures.example': ['93.184.215.14', 'fe80::1'],
      'none.pictures.example': [],
    });
    await expect(fetchImage(url, inside)).rejects.toThrow(Error);
    expect(pinnedAddresses).toEqual([]);
  });

  it('gives up after five redirects', async () => {
    handler = redirect('/again');
    await expect(fetchImage(`${origin}/`, buildOptions())).rejects.toThrow(/more than 5 times/);
    expect(requestedUrls).toHaveLength(6);
  });

  it('refuses an answer that is not a success', async () => {
    handler = (_, response) => void response.writeHead(404).end('no');
    await expect(fetchImage(`${origin}/`, buildOptions())).rejects.toThrow('the URL answers 404');
  });

  it('stops reading at 20 MiB', async () => {
    const mebibyte = Buffer.alloc(1024 * 1024);
    let sentCount = 0;
    handler = (_, response) => {
      const more = (): void => {
        sentCount += 1;
        if (sentCount <= 100) response.write(mebibyte, () => more());
      };
      more();
    };

    await expect(fetchImage(`${origin}/`, buildOptions())).rejects.toThrow(/20 MiB/);
    expect(sentCount).toBeLessThan(100);
  });

  it('gives up an answer, a body or a look-up that takes too long', async () => {
    handler = () => undefined;
    await expect(fetchImage(`${origin}/`, { ...buildOptions(), timeoutMs: 50 })).rejects.toThrow(
      /in time/,
    );

    handler = (_, response) => void response.write('x');
    await expect(fetchImage(`${origin}/`, { ...buildOptions(), timeoutMs: 50 })).rejects.toThrow(
      /in time/,
    );

    const stuck: FetchImageOptions = {
      ...buildOptions(),
      resolve: () => new Promise(() => undefined),
      timeoutMs: 50,
    };
    await expect(fetchImage(`${origin}/`, stuck)).rejects.toThrow(/in time/);
  });

  it("stops with its caller, for the caller's reason", async () => {
    const caller = new AbortController();
    handler = () => caller.abort(new Error('the service is stopping'));
    await expect(
      fetchImage(`${origin}/`, { ...buildOptions(), signal: caller.signal }),
    ).rejects.toThrow('the service is stopping');
  });

  it('trusts no certificate of another host', async () => {
    handler = (_, response) => void response.end('x');
    const url = new URL(origin.replace('pictures.example', 'other.example'));
    const { signal } = new AbortController();
    const opened = openHttp({ url, signal, addresses: ['127.0.0.1'], ca: certificate.cert });
    await expect(opened).rejects.toThrow(/altnames/i);
  });
});

describe('behind a proxy', () => {
  const env = { HTTPS_PROXY: 'http://proxy.example:3128' };
  const proxiedHosts: string[] = [];
  const buildProxyOptions = (
    addresses: Record<string, string[]>,
    more: Partial<FetchImageOptions> = {},
  ) => ({
    ...buildOptions(addresses),
    env,
    open: async ({ url, proxy }: Parameters<NonNullable<FetchImageOptions['open']>>[0]) => {
      proxiedHosts.push(`${url.host} by ${proxy?.host}`);
      return { status: 200, headers: {}, body: [Buffer.from('x')] as never, discard: () => {} };
    },
    ...more,
  });

  beforeEach(() => void proxiedHosts.splice(0));

  it.each([
    ['https://10.0.0.1/a.png', {}, '10.0.0.1 is not a public address'],
    ['https://[fd00::1]/a.png', {}, '[fd00::1] is not a public address'],
    [
      'https://inside.corp/a.png',
      { 'inside.corp': ['10.1.2.3'] },
      'inside.corp is not a public address',
    ],
    [
      'https://both.example/',
      { 'both.example': ['8.8.8.8', '10.0.0.1'] },
      'both.example is not a public',
    ],
    [
      'https://unknown.example/',
      {},
      "the host unknown.example can't be found, so it can't be known to be public",
    ],
  ])('refuses %s', async (url, addresses, message) => {
    await expect(fetchImage(url, buildProxyOptions(addresses))).rejects.toThrow(message);
    expect(proxiedHosts).toEqual([]);
    const allowed = buildProxyOptions(addresses, { allowPrivate: true });
    expect(await fetchImage(url, allowed)).toEqual(Buffer.from('x'));
    expect(proxiedHosts).toEqual([`${new URL(url).host} by proxy.example:3128`]);
  });

  it('adds the hint that its caller can follow', async () => {
    const onUnresolved = (host: string): string => `; --allow-private allows ${host}`;
    await expect(
      fetchImage('https://unknown.example/', buildProxyOptions({}, { onUnresolved })),
    ).rejects.toThrow('known to be public; --allow-private allows unknown.example');
  });

  it('asks the proxy for a name that leads to public addresses', async () => {
    await fetchImage('https://open.example/', buildProxyOptions({ 'open.example': ['8.8.8.8'] }));
    expect(proxiedHosts).toEqual(['open.example by proxy.example:3128']);
  });
});
