import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { answerRefusedRequests } from '../../../src/service/http/refused-requests.ts';

test.each([
  'nonsense\r\n\r\n',
  'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n',
])('a caller that was refused and never closes is disconnected: %j', async request => {
  const server = createServer();
  answerRefusedRequests(server, 20);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const caller = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  caller.write(request);
  const [answer] = (await once(caller, 'data')) as [Buffer];

  expect(answer.toString()).toContain('"status":');

  const closed = once(server, 'close');
  server.close();
  await closed;
  caller.destroy();
});
