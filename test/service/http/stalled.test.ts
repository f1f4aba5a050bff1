import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Api } from '../../../src/service/http/api.ts';
import { createHttpServer, type HttpServer } from '../../../src/service/http/server.ts';

const STALL_TIMEOUT_MS = 50;

/** A body that is larger than the buffers of a connection. */
const LARGE = 'x'.repeat(32 * 1024 * 1024);

let http: HttpServer;
let slowAnswer: AbortController;
let callers: Socket[];

/** Called with the path of each request. */
let onRequest: (path: string) => void;
let servedPaths: string[];

beforeEach(async () => {
  slowAnswer = new AbortController();
  callers = [];
  onRequest = () => {};
  servedPaths = [];

  const bodies: Record<string, Promise<string>> = {
    '/first': Promise.resolve('first'),
    '/large': Promise.resolve(LARGE),
    '/slow': once(slowAnswer.signal, 'abort').then(() => 'slow'),
  };
  const api: Api = async ({ target }) => {
    onRequest(target);
    return { httpStatus: 200, headers: {}, body: (await bodies[target]) ?? '' };
  };

  http = createHttpServer({
    api,
    host: 'service',
    closing: new AbortController().signal,
    stallTimeoutMs: STALL_TIMEOUT_MS,
    onRequest: ({ path }) => servedPaths.push(path),
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

/** Resolves once a caller that reads nothing of a large answer has lost its connection. */
async function waitForCutOff(): Promise<void> {
  const connected = once(http.server, 'connection') as Promise<[Socket]>;
  call('/large').pause();
  const [connection] = await connected;
  await once(connection, 'close');
}

test('a caller that does not read an answer loses its connection', async () => {
  await waitForCutOff();
});

test('an answer is sent even if making it takes longer than a caller may stop reading', async () => {
  const caller = call('/first', '/slow').setEncoding('latin1');
  let received = '';
  caller.on('data', (text: string) => (received += text));

  await expect.poll(() => received).toContain('first');

  // Two other connections have been cut off since the first answer, so the time is long over.
  await waitForCutOff();
  await waitForCutOff();
  slowAnswer.abort();

  await expect.poll(() => received).toContain('slow');
});

test('a request that has arrived is answered before a large answer is encoded', async () => {
  const other = call().resume();
  await once(http.server, 'connection');
  onRequest = path => {
    if (path === '/large') other.write('GET /first HTTP/1.1\r\nHost: service\r\n\r\n');
  };
  call('/large').resume();
  await expect.poll(() => servedPaths).toEqual(['/first', '/large']);
});
