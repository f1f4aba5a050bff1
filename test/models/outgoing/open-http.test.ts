import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fetchImage } from '../../../src/models/outgoing/fetch-image.ts';
import { openHttp } from '../../../src/models/outgoing/open-http.ts';
import { findOutgoingProxy } from '../../../src/models/outgoing/proxy.ts';
import { readBody } from '../../../src/models/outgoing/read-body.ts';
import { certificate } from '../../support/certificates/certificate.ts';
import { png } from '../../support/png.ts';

const { signal } = new AbortController();
let target: Server;
let proxy: Server;

/** The requests to the proxy, with their credentials. */
let proxyRequests: { target: string | undefined; authorization: string | undefined }[];

beforeEach(async () => {
  proxyRequests = [];

  target = createTlsServer(certificate, (request, response) => {
    let length = 0;
    request.on('data', (chunk: Buffer) => (length += chunk.length));
    request.on('end', () => response.end(request.method === 'GET' ? png(2, 2) : `got ${length}`));
  });

  proxy = createHttpServer((request, response) => {
    proxyRequests.push({
      target: request.url,
      authorization: request.headers['proxy-authorization'],
    });
    response.end('through');
  });

  proxy.on('connect', (request, client) => {
    proxyRequests.push({
      target: request.url,
      authorization: request.headers['proxy-authorization'],
    });
    const upstream = connect(listeningPort(target), '127.0.0.1', () => {
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

const listeningPort = (server: TcpServer): number => (server.address() as AddressInfo).port;
const proxyUrl = (): URL => new URL(`http://ada:se%20cret@127.0.0.1:${listeningPort(proxy)}`);

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
    const authorization = `Basic ${Buffer.from('ada:se cret').toString('base64')}`;
    expect(proxyRequests).toEqual([{ target: 'pictures.example:443', authorization }]);
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
    const answer = await openHttp({
      url: new URL('http://plain.example/a?b'),
      signal,
      proxy: proxyUrl(),
    });
    expect((await readBody(answer, 1000)).toString()).toBe('through');
    expect(proxyRequests[0]?.target).toBe('http://plain.example/a?b');
  });

  it.each([
    [
      'closes the connection',
      (): void => {},
      /the proxy 127\.0\.0\.1:\d+ made no connection: it closed the connection/,
    ],
    ['wants a password', (): string => 'HTTP/1.1 407 Who\r\n\r\n', /requires a name and password/],
    [
      'refuses',
      (): string => 'HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n',
      /made no connection: it answered with HTTP 403/,
    ],
    ['speaks no HTTP', (): string => 'SSH-2.0-x\r\n', /made no connection: .*HTTP/],
  ])('that %s is reported', async (_, answer, message) => {
    const oddProxy = createTcpServer(socket => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(answer() ?? ''));
    });
    await listen(oddProxy);
    const url = new URL(`http://127.0.0.1:${listeningPort(oddProxy)}`);

    await expect(
      openHttp({ url: new URL('https://far.example/'), signal, proxy: url }),
    ).rejects.toThrow(message);

    await new Promise(resolve => oddProxy.close(resolve));
  });

  it('stops with its caller while the proxy says nothing', async () => {
    const silentProxy = createTcpServer(socket => socket.on('error', () => undefined));
    await listen(silentProxy);
    const caller = new AbortController();
    const opened = openHttp({
      url: new URL('https://far.example/'),
      signal: caller.signal,
      proxy: new URL(`http://127.0.0.1:${listeningPort(silentProxy)}`),
    });

    caller.abort(new Error('enough'));
    await expect(opened).rejects.toThrow();

    await new Promise(resolve => silentProxy.close(resolve));
  });
});

describe('a request to a server', () => {
  /** Serves each connection with `answer`, and counts them. */
  async function withServer(
    answer: (socket: Socket) => void,
    work: (port: number, connections: () => number) => Promise<void>,
  ): Promise<void> {
    let connections = 0;
    const server = createTcpServer(socket => {
      connections += 1;
      answer(socket.on('error', () => undefined));
    });
    await listen(server);

    try {
      await work(listeningPort(server), () => connections);
    } finally {
      await new Promise(resolve => server.close(resolve));
    }
  }

  it.each<[string, (socket: Socket) => void]>([
    ['closes the connection at once', socket => socket.resume().end()],
    ['closes it once it has the request', socket => socket.once('data', () => socket.end())],
    ['resets it', socket => socket.once('data', () => socket.resetAndDestroy())],
    [
      'ends in the middle of the head',
      socket => socket.once('data', () => socket.end('HTTP/1.1 2')),
    ],
  ])('that %s is sent once', async (_, answer) => {
    await withServer(answer, async (port, connections) => {
      for (const method of ['GET', 'POST']) {
        const url = new URL(`http://127.0.0.1:${port}/`);
        await expect(openHttp({ url, method, signal })).rejects.toThrow();
      }
      expect(connections()).toBe(2);
    });
  });

  it('drops a connection that is being made when its caller stops', async () => {
    let dropped = (): void => undefined;
    const closed = new Promise<void>(resolve => {
      dropped = resolve;
    });

    const caller = new AbortController();
    const serve = (socket: Socket): void => {
      socket.once('data', () => caller.abort(new Error('enough'))).on('close', dropped);
    };

    await withServer(serve, async port => {
      const url = new URL(`https://far.example:${port}/`);
      const opened = openHttp({ url, signal: caller.signal, addresses: ['127.0.0.1'] });
      await expect(opened).rejects.toThrow('enough');
      await closed;
    });
  });

  it('fails if the body ends before its length', async () => {
    const short = (socket: Socket): void =>
      void socket.once('data', () =>
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort'),
      );
    await withServer(short, async port => {
      const answer = await openHttp({ url: new URL(`http://127.0.0.1:${port}/`), signal });
      await expect(readBody(answer, 1000)).rejects.toThrow();
    });
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
    expect(proxyRequests[0]?.target).toBe('pictures.example:443');
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
      host === 'inside.example'
        ? Promise.resolve(['10.0.0.1'])
        : Promise.reject(new Error('ENOTFOUND'));
    await expect(fetchImage(url, { signal, env: env(), resolve, open })).rejects.toThrow(
      /not a public address|can't be known to be public/,
    );
    expect(proxyRequests).toEqual([]);
  });
});

describe('the proxy for a URL', () => {
  const far = new URL('https://far.example/v1');

  it('is that of the environment, but none for this machine', () => {
    const env = { HTTP_PROXY: 'p:1', HTTPS_PROXY: 'q:2' };
    expect(findOutgoingProxy(far, env)?.host).toBe('q:2');
    expect(findOutgoingProxy(new URL('http://127.0.0.1:8000/'), env)).toBeUndefined();
    expect(findOutgoingProxy(new URL('http://127.evil.example/'), env)?.host).toBe('p:1');
  });

  it('is not taken from HTTP_PROXY in a CGI script', () => {
    const env = { HTTP_PROXY: 'p:1', REQUEST_METHOD: 'GET' };
    expect(findOutgoingProxy(new URL('http://far.example/'), env)).toBeUndefined();
  });
});
