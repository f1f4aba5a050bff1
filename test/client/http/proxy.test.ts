import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createPlainServer,
  type Socket,
} from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { InvalidRequestError, NetworkError } from '../../../src/client/errors.ts';
import { createTransport } from '../../../src/client/http/undici-transport.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from '../../support/certificates/loopback-certificate.ts';
import { getRejection, TestClient } from '../../support/client.ts';
import { findDeadBaseUrl, startScriptedService, success } from '../../support/scripted-service.ts';

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Starts a proxy that opens tunnels, and remembers where to and for whom. */
async function startTunnelProxy(
  status = 200,
): Promise<{ port: number; tunnels: { to: string; authorization?: string }[] }> {
  const tunnels: { to: string; authorization?: string }[] = [];
  const server = createServer((_, response) => response.writeHead(501).end());
  server.on('connect', (request, socket) => {
    const { 'proxy-authorization': authorization } = request.headers;
    tunnels.push({ to: request.url ?? '', ...(authorization !== undefined && { authorization }) });
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);

    const { hostname, port } = new URL(`http://${request.url}`);
    const upstream = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    for (const socketEnd of [socket, upstream]) socketEnd.on('error', () => {});
    return upstream;
  });

  return { port: await listen(server), tunnels };
}

/** Starts a proxy that calls `serve` with each connection that asks for a tunnel. */
async function startPlainProxy(serve: (socket: Socket) => void): Promise<number> {
  const server = createPlainServer(socket => {
    socket.on('error', () => {}).once('data', () => serve(socket));
    closers.push(() => socket.destroy());
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function listen(server: Server | TlsServer): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function createClient(
  baseUrl: string,
  options: Parameters<typeof createTransport>[0],
): Promise<TestClient> {
  const createdClient = new TestClient(baseUrl, {
    insecureHttp: true,
    transport: await createTransport(options),
  });
  closers.push(() => createdClient.close());
  return createdClient;
}

describe('a proxy', () => {
  it('carries every request', async () => {
    const service = await startScriptedService([{ answer: success({}), times: 2 }]);
    closers.push(() => service.close());
    const { port, tunnels } = await startTunnelProxy();
    const proxied = await createClient(service.baseUrl, {
      proxy: { httpProxy: `http://user:pass@127.0.0.1:${port}` },
    });
    await proxied.account.get();
    await proxied.request('POST', '/runs', { body: {} });
    const to = new URL(service.origin).host;
    const authorization = `Basic ${Buffer.from('user:pass').toString('base64')}`;

    expect(tunnels).toEqual([
      { to, authorization },
      { to, authorization },
    ]);

    service.verify();
  });

  it.each(['127.0.0.1', '*', 'other.example, 127.0.0.1'])(
    'is passed by for NO_PROXY=%s',
    async noProxy => {
      const service = await startScriptedService([{ answer: success({}) }]);
      closers.push(() => service.close());
      const { port, tunnels } = await startTunnelProxy();
      await (
        await createClient(service.baseUrl, { proxy: { httpProxy: `127.0.0.1:${port}`, noProxy } })
      ).account.get();
      expect(tunnels).toEqual([]);
    },
  );

  it('for https is not for http', async () => {
    const service = await startScriptedService([{ answer: success({}) }]);
    closers.push(() => service.close());
    const { port, tunnels } = await startTunnelProxy();
    await (
      await createClient(service.baseUrl, { proxy: { httpsProxy: `127.0.0.1:${port}` } })
    ).account.get();
    expect(tunnels).toEqual([]);
  });

  it.each([
    ['', /requires a name and password \(HTTP 407\).*HTTPS_PROXY=http:\/\/name:password@host:port/],
    ['user:secret@', /does not accept the name and password in its URL \(HTTP 407\)/],
  ])(
    'that answers 407 to %j says what it wants, and is not asked again',
    async (credentials, message) => {
      const { port, tunnels } = await startTunnelProxy(407);
      const httpProxy = `http://${credentials}127.0.0.1:${port}`;
      const proxied = await createClient('http://service.example', { proxy: { httpProxy } });
      const error = await getRejection(proxied.account.get(), NetworkError);

      expect(error.message).toMatch(message);
      expect(error.message).toContain(`http://service.example through the proxy 127.0.0.1:${port}`);
      expect(error.message).not.toContain('secret');
      expect(tunnels).toHaveLength(1);
    },
  );

  it('that closes the connection instead of an answer is a fault, tried four times', async () => {
    let requestCount = 0;
    const port = await startPlainProxy(socket => {
      requestCount++;
      socket.end();
    });
    const proxied = await createClient('http://service.example', {
      proxy: { httpProxy: `127.0.0.1:${port}` },
    });
    const error = await getRejection(proxied.request('POST', '/runs', { body: {} }), NetworkError);

    expect(error).toMatchObject({ nothingSent: true });
    expect(error.message).toContain(
      `through the proxy 127.0.0.1:${port}: it closed the connection`,
    );
    expect(requestCount).toBe(4);
  });

  it('that resets the connection is a fault', async () => {
    const port = await startPlainProxy(socket => socket.resetAndDestroy());
    const proxied = await createClient('https://service.example', {
      proxy: { httpsProxy: `127.0.0.1:${port}` },
    });
    expect(await getRejection(proxied.account.get({ retries: 0 }), NetworkError)).toMatchObject({
      nothingSent: true,
    });
  });

  it('that makes a tunnel and closes it again is a fault', async () => {
    const port = await startPlainProxy(socket =>
      socket.end('HTTP/1.1 200 Connection established\r\n\r\n'),
    );
    const plain = await createClient('http://service.example', {
      proxy: { httpProxy: `127.0.0.1:${port}` },
    });
    await getRejection(plain.account.get({ retries: 0 }), NetworkError);
    const secured = await createClient('https://service.example', {
      proxy: { httpsProxy: `127.0.0.1:${port}` },
    });

    expect(await getRejection(secured.account.get({ retries: 0 }), NetworkError)).toMatchObject({
      nothingSent: true,
    });
  });

  it('that never answers is abandoned', async () => {
    const port = await startPlainProxy(() => {});
    const proxied = await createClient('http://service.example', {
      proxy: { httpProxy: `127.0.0.1:${port}` },
      connectTimeoutMs: 20,
    });
    const error = await getRejection(proxied.account.get({ retries: 0 }), NetworkError);
    expect(error.message).toContain(`through the proxy 127.0.0.1:${port}: no answer in time`);
  });

  it('that never answers does not hold up an aborted request', async () => {
    const controller = new AbortController();
    const port = await startPlainProxy(() => controller.abort(new Error('enough')));
    const proxied = await createClient('http://service.example', {
      proxy: { httpProxy: `127.0.0.1:${port}` },
    });
    await expect(proxied.account.get({ signal: controller.signal })).rejects.toThrow('enough');
  });

  it('leads to a server whose certificate is not for its name, which is a fault', async () => {
    const secured = await listen(
      createTlsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (_, response) => response.end()),
    );
    const { port } = await startTunnelProxy();
    const proxied = await createClient(`https://127.0.0.1:${secured}`, {
      proxy: { httpsProxy: `127.0.0.1:${port}` },
    });
    const error = await getRejection(proxied.account.get({ retries: 0 }), NetworkError);

    expect(error).toMatchObject({ nothingSent: true });
    expect(error.message).toMatch(/certificate/);
  });

  it('that can’t be used is refused before any request', async () => {
    const transport = createTransport({
      proxy: { httpsProxy: 'socks5://user:secret@127.0.0.1:1080' },
    });
    const error = await getRejection(transport, InvalidRequestError);
    expect(error.message).toMatch(/HTTPS_PROXY uses socks5:/);
    expect(error.message).not.toContain('secret');
  });

  it.each([
    ['refuses', 403],
    ['fails', 502],
  ])('that %s is a fault before anything was sent', async (_, status) => {
    const { port } = await startTunnelProxy(status);
    const proxied = await createClient('http://service.example', {
      proxy: { httpProxy: `127.0.0.1:${port}` },
    });
    const error = await getRejection(proxied.account.get({ retries: 0 }), NetworkError);
    expect(error).toMatchObject({ nothingSent: true });
    expect(error.message).toContain(String(status));
  });

  it('that does not exist is a fault before anything was sent', async () => {
    const proxied = await createClient('https://service.example', {
      proxy: { httpsProxy: new URL(await findDeadBaseUrl()).host },
    });
    expect(await getRejection(proxied.account.get({ retries: 0 }), NetworkError)).toMatchObject({
      nothingSent: true,
    });
  });

  it('that refuses the connection is named as the one that does', async () => {
    const dead = new URL(await findDeadBaseUrl()).host;
    const proxiedClient = await createClient('https://prompts.example', {
      proxy: { httpsProxy: `http://${dead}` },
    });
    const error = await getRejection(proxiedClient.account.get({ retries: 0 }), NetworkError);
    expect(error.message).toContain(`through the proxy ${dead}: connection refused`);
  });
});

describe('https', () => {
  async function startTlsServer(): Promise<number> {
    return listen(
      createTlsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, (_, response) => response.end()),
    );
  }

  it('with a certificate that nobody trusts is a fault before anything was sent', async () => {
    const untrusting = await createClient(`https://localhost:${await startTlsServer()}`, {});
    const error = await getRejection(untrusting.account.get({ retries: 0 }), NetworkError);
    expect(error).toMatchObject({ nothingSent: true });
    expect(error.message).toMatch(/certificate/);
  });

  it('spoken to a server that speaks http is a fault before anything was sent', async () => {
    const service = await startScriptedService([]);
    closers.push(() => service.close());
    const wrong = await createClient(service.origin.replace('http:', 'https:'), {});
    expect(await getRejection(wrong.account.get({ retries: 0 }), NetworkError)).toMatchObject({
      nothingSent: true,
    });
  });

  it('is not spoken by a server that speaks only https', async () => {
    const wrong = await createClient(`http://127.0.0.1:${await startTlsServer()}`, {});
    const error = await getRejection(wrong.account.get({ retries: 0 }), Error);
    expect(error).toMatchObject({ httpStatus: expect.toBeOneOf([undefined, 400]) as unknown });
  });
});

describe('a connection that is never made', () => {
  it('ends after the time limit', async () => {
    // Connections to this address of the documentation range are neither accepted nor refused, or
    // not routed at all.
    const client = await createClient('http://192.0.2.1', { connectTimeoutMs: 30 });
    expect(await getRejection(client.account.get({ retries: 0 }), NetworkError)).toMatchObject({
      nothingSent: true,
    });
  });
});
