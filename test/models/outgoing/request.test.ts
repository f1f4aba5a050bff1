import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server as TcpServer,
} from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fetchImage } from '../../../src/models/outgoing/fetch-image.ts';
import { proxyFor } from '../../../src/models/outgoing/proxy.ts';
import { openHttp, readBody } from '../../../src/models/outgoing/request.ts';
import { certificate } from '../../support/certificate.ts';
import { png } from '../../support/pictures.ts';

const { signal } = new AbortController();
let target: Server;
let proxy: Server;
/** What the proxy was asked for, and by whom. */
let asked: { target: string | undefined; as: string | undefined }[];

beforeEach(async () => {
  asked = [];
  target = createTlsServer(certificate, (request, response) => {
    let length = 0;
    request.on('data', (chunk: Buffer) => (length += chunk.length));
    request.on('end', () => response.end(request.method === 'GET' ? png(2, 2) : `got ${length}`));
  });
  proxy = createHttpServer((request, response) => {
    asked.push({ target: request.url, as: request.headers['proxy-authorization'] });
    response.end('through');
  });
  proxy.on('connect', (request, client) => {
    asked.push({ target: request.url, as: request.headers['proxy-authorization'] });
    const upstream = connect(portOf(target), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    upstream.on('close', () => client.destroy());
  });
  await Promise.all([listen(target), listen(proxy)]);
});

afterEach(async () => {
  for (const server of [target, proxy]) server.closeAllConnections();
  await Promise.all([target, proxy].map(server => new Promise(resolve => server.close(resolve))));
});

const listen = (server: TcpServer): Promise<void> =>
  new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
const portOf = (server: TcpServer): number => (server.address() as AddressInfo).port;
const proxyUrl = (): URL => new URL(`http://ada:se%20cret@127.0.0.1:${portOf(proxy)}`);

describe('a request through a proxy', () => {
  it("over https goes through a tunnel, with the name and password of the proxy's URL", async () => {
    const answer = await openHttp({
      url: new URL('https://pictures.example/v1/x'),
      method: 'POST',
      body: Buffer.from('hello'),
      headers: { 'content-length': '5' },
      signal,
      proxy: proxyUrl(),
      ca: certificate.cert,
    });
    expect((await readBody(answer, 1000)).toString()).toBe('got 5');
    const as = `Basic ${Buffer.from('ada:se cret').toString('base64')}`;
    expect(asked).toEqual([{ target: 'pictures.example:443', as }]);
  });

  it('trusts no certificate of another host than it asked for', async () => {
    const request = {
      url: new URL('https://other.example/'),
      signal,
      proxy: proxyUrl(),
      ca: certificate.cert,
    };
    await expect(openHttp(request)).rejects.toThrow(/altnames/i);
  });

  it('over plain http names the whole URL', async () => {
    const answer = await openHttp({ url: new URL('http://plain.example/a?b'), signal, proxy: proxyUrl() });
    expect((await readBody(answer, 1000)).toString()).toBe('through');
    expect(asked[0]?.target).toBe('http://plain.example/a?b');
  });

  it.each([
    ['closes the connection', (): void => {}, /closed the connection|socket hang up/],
    ['wants a password', (): string => 'HTTP/1.1 407 Who\r\n\r\n', /wants a name and a password/],
    [
      'refuses',
      (): string => 'HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n',
      /refuses to lead to far\.example:443 .*403/,
    ],
    ['speaks no HTTP', (): string => 'SSH-2.0-x\r\n', /can't be used/],
  ])('that %s is told', async (_, answer, message) => {
    const odd = createTcpServer(socket => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(answer() ?? ''));
    });
    await listen(odd);
    const url = new URL(`http://127.0.0.1:${portOf(odd)}`);
    await expect(openHttp({ url: new URL('https://far.example/'), signal, proxy: url })).rejects.toThrow(
      message,
    );
    await new Promise(resolve => odd.close(resolve));
  });

  it('stops with its caller while the proxy says nothing', async () => {
    const silent = createTcpServer(socket => socket.on('error', () => undefined));
    await listen(silent);
    const caller = new AbortController();
    const opened = openHttp({
      url: new URL('https://far.example/'),
      signal: caller.signal,
      proxy: new URL(`http://127.0.0.1:${portOf(silent)}`),
    });
    caller.abort(new Error('enough'));
    await expect(opened).rejects.toThrow();
    await new Promise(resolve => silent.close(resolve));
  });
});

describe('a picture behind a proxy', () => {
  const env = (): Record<string, string> => ({ HTTPS_PROXY: proxyUrl().href });
  const open: typeof openHttp = request => openHttp({ ...request, ca: certificate.cert });

  it("is fetched through it, with --allow-private also by names that can't be looked up here", async () => {
    const resolve = (): Promise<string[]> => Promise.reject(new Error('ENOTFOUND'));
    const url = 'https://pictures.example/a.png';
    const options = { signal, env: env(), resolve, open, allowPrivate: true };
    expect(await fetchImage(url, options)).toEqual(png(2, 2));
    expect(asked[0]?.target).toBe('pictures.example:443');
  });

  it.each([
    'https://127.0.0.1/',
    'https://10.0.0.1/',
    'https://[::1]/',
    'https://intranet/',
    'https://files.corp/',
    'https://metadata.google.internal/',
    'https://inside.example/',
  ])('is not asked for at %s', async url => {
    const resolve = (host: string): Promise<string[]> =>
      host === 'inside.example' ? Promise.resolve(['10.0.0.1']) : Promise.reject(new Error('ENOTFOUND'));
    await expect(fetchImage(url, { signal, env: env(), resolve, open })).rejects.toThrow(
      /not a public address|can't be known to be public/,
    );
    expect(asked).toEqual([]);
  });
});

describe('the proxy for a URL', () => {
  const far = new URL('https://far.example/v1');

  it.each<[string, Record<string, string>, string | undefined]>([
    ['https', { HTTPS_PROXY: 'p:1', HTTP_PROXY: 'q:2' }, 'http://p:1/'],
    ['the lower-case name first', { HTTPS_PROXY: 'p:1', https_proxy: 'http://r:3' }, 'http://r:3/'],
    ['none', {}, undefined],
    ['none for what is excepted', { HTTPS_PROXY: 'p:1', NO_PROXY: 'other, .example' }, undefined],
    ['none for an excepted port', { HTTPS_PROXY: 'p:1', NO_PROXY: 'far.example:443' }, undefined],
    ['all the same for another port', { HTTPS_PROXY: 'p:1', NO_PROXY: 'far.example:8443' }, 'http://p:1/'],
    ['none where everything is excepted', { HTTPS_PROXY: 'p:1', no_proxy: '*' }, undefined],
  ])('is that of %s', (_, env, wanted) => {
    expect(proxyFor(far, env)?.href).toBe(wanted);
  });

  it('is none for this machine, and none of another kind than HTTP', () => {
    const env = { HTTP_PROXY: 'p:1', HTTPS_PROXY: 'socks5://ada:secret@p:1' };
    expect(proxyFor(new URL('http://127.0.0.1:8000/'), env)).toBeUndefined();
    expect(proxyFor(new URL('http://127.evil.example/'), env)?.host).toBe('p:1');
    expect(() => proxyFor(far, env)).toThrow(
      "HTTPS_PROXY: socks5 proxies can't be used; give it as http://host:port",
    );
  });
});
