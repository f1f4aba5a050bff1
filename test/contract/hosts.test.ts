import { request } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { json, text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestService } from '../support/local-service.ts';

const REFUSAL = {
  http: 421,
  envelope: {
    status: 'MISDIRECTED_REQUEST_ERROR',
    message: expect.any(String) as string,
    data: null,
  },
};

const LOCAL_ADDRESSES = Object.values(networkInterfaces()).flatMap(addresses => addresses ?? []);
/** An address of this machine that others reach; none without a network. */
const OUTER_ADDRESSES = LOCAL_ADDRESSES.filter(
  ({ family, internal }) => family === 'IPv4' && !internal,
)
  .map(({ address }) => address)
  .slice(0, 1);

/**
 * Asks under a name of the caller's choice, as a browser does after its name was made to lead here.
 */
async function ask(service: TestService, host: string, path = '/v1/me'): Promise<object> {
  const { hostname, port } = new URL(service.service.url);
  const headers = { host, authorization: `Bearer ${service.key}` };
  return await new Promise((resolve, reject) => {
    const address = hostname === '0.0.0.0' ? '127.0.0.1' : hostname;
    request({ host: address, port, path, headers }, answer => {
      json(answer).then(envelope => resolve({ http: answer.statusCode, envelope }), reject);
    })
      .on('error', reject)
      .end();
  });
}

/** Asks without a `Host`, and returns the status of the answer. */
async function getStatusWithoutHost(
  service: TestService,
  path: string,
): Promise<string | undefined> {
  const socket = connect(Number(new URL(service.service.url).port), '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.0\r\nauthorization: Bearer ${service.key}\r\n\r\n`);
  return (await text(socket)).split(' ')[1];
}

describe('a service on loopback', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ publicUrl: 'https://prompts.example/team' });
  });
  afterAll(() => service.close());

  test.each([
    'localhost',
    'localhost:8787',
    'LOCALHOST.',
    'app.localhost',
    '127.0.0.1',
    '127.1.2.3:1',
    '[::1]:80',
    'prompts.example',
    'Prompts.Example:443',
  ])('answers as %s', async host => {
    expect(await ask(service, host)).toMatchObject({ http: 200 });
  });

  test.each([
    'evil.example',
    '127.evil.example',
    'localhost.evil.example',
    'prompts.example.evil.example',
    'localhost@evil.example',
    'evil.example/localhost',
    '0.0.0.0',
    '10.0.0.1',
    '[::2]',
    'a b',
    ...OUTER_ADDRESSES,
  ])('refuses %j with 421, on every path and with a good key too', async host => {
    for (const path of ['/v1/me', '/nowhere', '/openapi.json', '/media/x.png']) {
      expect(await ask(service, host, path)).toEqual(REFUSAL);
    }
  });
});

describe('a request without a host', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.close());

  test.each(['/v1/me', '/v1/prompts', '/', '/openapi.json'])(
    'is refused with 421 at %s',
    async path => {
      expect(await getStatusWithoutHost(service, path)).toBe('421');
    },
  );

  test.each(['/healthz', '/readyz'])(
    'is answered at %s, where load balancers ask for the health of the service',
    async path => {
      expect(await getStatusWithoutHost(service, path)).toBe('200');
    },
  );
});

describe('a service on every address', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ host: '0.0.0.0' });
  });
  afterAll(() => service.close());

  test.each([
    'localhost',
    '127.0.0.1',
    '0.0.0.0',
    ...OUTER_ADDRESSES.flatMap(address => [address, `${address}:80`]),
  ])('answers as %s', async host => {
    expect(await ask(service, host)).toMatchObject({ http: 200 });
  });

  test.each(['evil.example', '203.0.113.9', '[2001:db8::1]'])('refuses %s with 421', async host => {
    expect(await ask(service, host)).toEqual(REFUSAL);
  });
});
