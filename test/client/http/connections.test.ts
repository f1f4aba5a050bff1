import { createServer as createHttpServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createPlainServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTransport } from '../../../src/client/http/undici-transport.ts';
import { TestClient, testClient } from '../../support/client.ts';
import {
  type Call,
  type ScriptedService,
  startScriptedService,
  success,
} from '../../support/scripted-service.ts';

const run = { runId: 'r', runStatus: 'succeeded', outputs: [], tokens: 1 };
const request = { promptVersionId: 'v', inputs: {} };

/** A step of a client: a request, or a pause without any. */
type Step = 'GET' | 'POST' | 'POST with key' | { readonly idleMs: number };

const GET = 'GET';
const POST = 'POST';
const POST_WITH_KEY = 'POST with key';

/** Longer than a connection may be idle before a POST is not sent over it any more. */
const OVER_A_SECOND = { idleMs: 1100 };

describe('the connections of requests', () => {
  let service: ScriptedService;
  let client: TestClient;
  let ports: number[];

  /**
   * Takes the steps one after the other. Returns the number of the connection over which each
   * request came; the first connection is 0.
   */
  async function numberConnections(
    steps: readonly Step[],
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
    const distinctPorts = [...new Set(ports)];

    return ports.map(port => distinctPorts.indexOf(port));
  }

  async function performStep(step: Step): Promise<unknown> {
    if (typeof step === 'object') return vi.advanceTimersByTimeAsync(step.idleMs);
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
    expect(await numberConnections([POST, { idleMs: 10 }, POST, { idleMs: 500 }, POST])).toEqual([
      0, 0, 0,
    ]);
  });

  it('are not used by a POST when they have been idle for a second', async () => {
    expect(await numberConnections([POST, OVER_A_SECOND, POST])).toEqual([0, 1]);
  });

  it('are used by a GET even when they have been idle for a second', async () => {
    expect(await numberConnections([GET, OVER_A_SECOND, GET])).toEqual([0, 0]);
  });

  it('are not used by a POST when their server is about to close them', async () => {
    const steps: Step[] = [POST, { idleMs: 10 }, POST];
    const headers = { 'keep-alive': 'timeout=1' };
    expect(await numberConnections(steps, headers)).toEqual([0, 1]);
    expect(client.slept).toEqual([]);
  });

  it('are used by a POST with a key even after a second if the service keeps keys', async () => {
    const steps: Step[] = [GET, OVER_A_SECOND, POST_WITH_KEY, OVER_A_SECOND, POST_WITH_KEY, POST];
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
    // The server never says anything, so that the encrypted connection is never made.
    const client = testClient(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const controller = new AbortController();
    let sentCount = 0;
    const creation = client.runs.create(request, {
      signal: controller.signal,
      onSent: () => sentCount++,
    });
    server.once('connection', () => controller.abort(new Error('enough')));

    await expect(creation).rejects.toThrow('enough');
    expect(sentCount).toBe(0);
  });
});

/** Starts an HTTP server until the end of the test. Returns its address without the scheme. */
async function startServer(listener: RequestListener): Promise<string> {
  const server = createHttpServer(listener);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('informational answers do not extend the wait for an answer', async () => {
  const address = await startServer((_, response) => {
    const ticking = setInterval(() => response.writeProcessing(), 20);
    response.on('close', () => clearInterval(ticking));
  });
  const transport = await createTransport();
  onTestFinished(() => transport.close());
  const url = `http://${address}/v1/me`;
  const timeouts = { headersTimeoutMs: 200, bodyTimeoutMs: 200 };

  await expect(transport.request({ method: 'GET', url, headers: {}, ...timeouts })).rejects.toThrow(
    'only informational responses came in time',
  );
});

it('an https address whose port does not use TLS is refused with that reason', async () => {
  const client = testClient(`https://${await startServer((_, response) => response.end())}`);

  await expect(client.runs.get('r')).rejects.toThrow(
    'it does not use TLS; try an address that begins with http:',
  );
});
