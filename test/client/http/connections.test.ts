import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createPlainServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTransport } from '../../../src/client/http/undici-transport.ts';
import { TestClient } from '../../support/client.ts';
import {
  type Call,
  type ScriptedService,
  startScriptedService,
  success,
} from '../../support/scripted-service.ts';

const run = { runId: 'r', runStatus: 'succeeded', outputs: [], tokens: 1 };
const request = { promptVersionId: 'v', inputs: {} };
const GET = 'get';
const POST = 'post';
const POST_WITH_KEY = 'post with key';

describe('the connections of requests', () => {
  let service: ScriptedService;
  let client: TestClient;
  let ports: number[];

  /**
   * Makes the requests one after the other, and says which of them came over the same connection,
   * as 0, 1, …
   */
  async function numberConnections(
    steps: readonly (string | number)[],
    headers: Record<string, string> = {},
  ): Promise<number[]> {
    const answer = (call: Call): ReturnType<typeof success> => {
      ports.push(call.port);
      return success(run, headers);
    };

    service = await startScriptedService([
      { answer, times: steps.filter(step => typeof step === 'string').length },
    ]);
    client = new TestClient(service.baseUrl);
    for (const step of steps) await performStep(step);
    const seen = [...new Set(ports)];

    return ports.map(port => seen.indexOf(port));
  }

  async function performStep(step: string | number): Promise<unknown> {
    if (typeof step === 'number') return vi.advanceTimersByTimeAsync(step);
    if (step === GET) return client.runs.get('r');
    return client.runs.create(request, step === POST_WITH_KEY ? { idempotencyKey: 'k' } : {});
  }

  beforeEach(() => {
    ports = [];
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });

  afterEach(async () => {
    await client.close();
    vi.useRealTimers();
    await service.close();
    service.verify();
  });

  it('are kept from one POST to the next', async () => {
    expect(await numberConnections([POST, 10, POST, 500, POST])).toEqual([0, 0, 0]);
  });

  it('are not used by a POST when they have been idle for a second', async () => {
    expect(await numberConnections([POST, 1100, POST])).toEqual([0, 1]);
  });

  it('are used by a GET for longer', async () => {
    expect(await numberConnections([GET, 1100, GET])).toEqual([0, 0]);
  });

  it('are not used by a POST when their server is about to close them', async () => {
    expect(await numberConnections([POST, 10, POST], { 'keep-alive': 'timeout=1' })).toEqual([
      0, 1,
    ]);
    expect(client.slept).toEqual([]);
  });

  it('are used by a POST with a key even after a second if the service keeps keys', async () => {
    const steps = [GET, 1100, POST_WITH_KEY, 1100, POST_WITH_KEY, POST];
    expect(await numberConnections(steps, { idempotency: 'supported' })).toEqual([0, 0, 0, 1]);
  });

  it('are not used by a POST with a key until the service is known to keep keys', async () => {
    expect(await numberConnections([GET, POST_WITH_KEY])).toEqual([0, 1]);
  });
});

describe('a request that waits for its connection', () => {
  let server: Server;
  let sockets: Socket[];

  beforeEach(async () => {
    sockets = [];
    server = createPlainServer(socket => sockets.push(socket.on('error', () => {})));
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  });

  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise(resolve => server.close(resolve));
  });

  it('is ended by its signal at once', async () => {
    // The other side never says anything, so that the encrypted connection is never made.
    const client = new TestClient(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const controller = new AbortController();
    let sentCount = 0;
    const creation = client.runs.create(request, {
      signal: controller.signal,
      onSent: () => sentCount++,
    });
    server.once('connection', () => controller.abort(new Error('enough')));

    await expect(creation).rejects.toThrow('enough');
    expect(sentCount).toBe(0);

    await client.close();
  });
});

it('informational answers do not extend the wait for an answer', async () => {
  const server = createHttpServer((_, response) => {
    const ticking = setInterval(() => response.writeProcessing(), 20);
    response.on('close', () => clearInterval(ticking));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const transport = await createTransport();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/me`;
  const timeouts = { headersTimeoutMs: 200, bodyTimeoutMs: 200 };
  const request = transport.request({ method: 'GET', url, headers: {}, ...timeouts });

  await expect(request).rejects.toThrow(/only informational responses came in time/);

  await transport.close();
  server.closeAllConnections();
  await new Promise(resolve => server.close(resolve));
});

it('a port without TLS is called that', async () => {
  const server = createHttpServer((_, response) => response.end());
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const client = new TestClient(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);

  await expect(client.runs.get('r')).rejects.toThrow(
    /it does not use TLS; try an address that begins with http:/,
  );

  await client.close();
  await new Promise(resolve => server.close(resolve));
});
