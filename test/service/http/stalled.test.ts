import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Api } from '../../../src/service/http/api.ts';
import { createHttpServer, type HttpServer } from '../../../src/service/http/server.ts';

const STALLED_MS = 50;

/** More than the buffers of a connection hold. */
const LARGE = 'x'.repeat(32 * 1024 * 1024);

let http: HttpServer;
let controller: AbortController;
let callers: Socket[];

/** Called with the path of each request. */
let onAsked: (path: string) => void;
let served: string[];

beforeEach(async () => {
  controller = new AbortController();
  callers = [];
  onAsked = () => {};
  served = [];

  const bodies: Record<string, Promise<string>> = {
    '/first': Promise.resolve('first'),
    '/large': Promise.resolve(LARGE),
    '/made': once(controller.signal, 'abort').then(() => 'and the next'),
  };
  const api: Api = async ({ target }) => {
    onAsked(target);
    return { httpStatus: 200, headers: {}, body: (await bodies[target]) ?? '' };
  };

  http = createHttpServer({
    api,
    host: 'service',
    closing: new AbortController().signal,
    stallTimeoutMs: STALLED_MS,
    onRequest: ({ path }) => served.push(path),
  });
  await once(http.server.listen(0, '127.0.0.1'), 'listening');
});

afterEach(() => {
  for (const caller of callers) caller.destroy();
  http.server.close();
});

function call(...targets: string[]): Socket {
  const { port } = http.server.address() as AddressInfo;
  const caller = connect(port, '127.0.0.1').on('error', () => {});
  callers.push(caller);
  caller.write(targets.map(target => `GET ${target} HTTP/1.1\r\nHost: service\r\n\r\n`).join(''));
  return caller;
}

/** Resolves once a caller that takes nothing of a large answer has lost its connection. */
async function stalledIsCutOff(): Promise<void> {
  const connected = once(http.server, 'connection') as Promise<[Socket]>;
  call('/large').pause();
  const [connection] = await connected;
  await once(connection, 'close');
}

test('a caller that does not read an answer loses its connection', async () => {
  await stalledIsCutOff();
});

test('a caller whose next answer takes longer to make than an answer may stand still gets it', async () => {
  const caller = call('/first', '/made').setEncoding('latin1');
  let received = '';
  caller.on('data', (text: string) => (received += text));

  await expect.poll(() => received).toContain('first');

  // Far longer than the time: it is twice over for a connection that was opened after the first
  // answer.
  await stalledIsCutOff();
  await stalledIsCutOff();
  controller.abort();

  await expect.poll(() => received).toContain('and the next');
});

test('a request that has arrived is answered before a large answer is encoded', async () => {
  const other = call().resume();
  await once(http.server, 'connection');
  onAsked = path => {
    if (path === '/large') other.write('GET /first HTTP/1.1\r\nHost: service\r\n\r\n');
  };
  call('/large').resume();
  await expect.poll(() => served).toEqual(['/first', '/large']);
});
