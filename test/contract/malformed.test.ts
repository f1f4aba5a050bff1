import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_BODY_BYTES, MAX_BODY_VALUES } from '../../src/wire/index.ts';
import { TestService } from '../support/local-service.ts';

let service: TestService;

beforeAll(async () => {
  service = await TestService.start();
});

afterAll(() => service.close());

interface RawAnswer {
  readonly statusLine: string;
  readonly headers: string;
  readonly envelope: unknown;
}

/** Sends bytes as they are and parses the only answer to them. */
async function send(request: string): Promise<RawAnswer> {
  const text = await exchange([request]);
  const [head = '', body = ''] = text.split('\r\n\r\n');

  const [statusLine = '', ...headers] = head.split('\r\n');
  try {
    return { statusLine, headers: headers.join('\n').toLowerCase(), envelope: JSON.parse(body) };
  } catch {
    throw new Error(`no envelope: ${text}`);
  }
}

/**
 * Sends bytes as they are and returns what comes back until the connection is closed.
 *
 * @param followUp is sent once something has come back.
 */
function exchange(pieces: readonly string[], followUp = ''): Promise<string> {
  const { port } = new URL(service.service.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8');
    socket.once('data', () => void (followUp !== '' && socket.write(followUp)));
    socket.on('data', (piece: string) => {
      text += piece;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    for (const piece of pieces) socket.write(piece);
  });
}

/** Returns the status of each answer, with the field by which the data of a success is known. */
const listOutcomes = (answers: string) =>
  answers.match(/(?<=HTTP\/1\.1 )\d+|"hasMore"|"username"/g);

/** The headers of a request after whose answer the connection is closed. */
const LAST_HEADERS = 'Host: localhost\r\nConnection: close\r\n';

const CONNECT_REQUEST = 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n';

const buildKeyHeaders = () => `Host: localhost\r\nAuthorization: Bearer ${service.key}\r\n`;
const buildGetRequest = (path: string) => `GET ${path} HTTP/1.1\r\n${buildKeyHeaders()}\r\n`;

const errorWith = (status: string) => ({
  status,
  message: expect.any(String) as string,
  data: null,
});

/** More than the headers of a request may have, and than the service reads of them. */
const LONG_TEXT = 'x'.repeat(20_000);
const ENDLESS_TEXT = 'x'.repeat(10_000_000);

describe('a malformed request', () => {
  test.each([
    { what: 'no HTTP at all', request: 'hello there\r\n\r\n' },
    { what: 'HTTP/2', request: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' },
    { what: 'an unknown method', request: `FETCH /v1/runs HTTP/1.1\r\n${LAST_HEADERS}\r\n` },
    {
      what: 'a header without a name',
      request: `GET /v1/me HTTP/1.1\r\n: x\r\n${LAST_HEADERS}\r\n`,
    },
    {
      what: 'a header with a line break in it',
      request: `GET /v1/me HTTP/1.1\r\nA: b\rc\r\n${LAST_HEADERS}\r\n`,
    },
    {
      what: 'a length that is not a number',
      request: `POST /v1/runs HTTP/1.1\r\nContent-Length: many\r\n${LAST_HEADERS}\r\n`,
    },
    {
      what: 'a length besides chunks',
      request: `POST /v1/runs HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n${LAST_HEADERS}\r\n`,
    },
    {
      what: 'a chunk without a size',
      request: `POST /v1/nowhere HTTP/1.1\r\nTransfer-Encoding: chunked\r\n${LAST_HEADERS}\r\nzz\r\n`,
    },
    {
      what: 'a path that is not part of a URL',
      request: `GET /v1/%zz HTTP/1.1\r\n${LAST_HEADERS}\r\n`,
    },
    {
      what: 'an unknown expectation',
      request: `GET /v1/me HTTP/1.1\r\nExpect: a-miracle\r\n${LAST_HEADERS}\r\n`,
    },
  ])('is answered 400 in the envelope: $what', async ({ request }) => {
    const answer = await send(request);
    expect(answer.statusLine).toBe('HTTP/1.1 400 Bad Request');
    expect(answer.headers).toContain('content-type: application/json; charset=utf-8');
    expect(answer.envelope).toEqual(errorWith('BAD_REQUEST_ERROR'));
  });

  test.each([
    { what: 'a request that is not HTTP', status: '400', buildRequest: () => 'nonsense\r\n\r\n' },
    {
      what: 'a path that is too long',
      status: '431',
      buildRequest: () => `GET /v1/${LONG_TEXT} HTTP/1.1\r\n${LAST_HEADERS}\r\n`,
    },
    { what: 'a tunnel', status: '404', buildRequest: () => CONNECT_REQUEST },
    {
      what: 'a chunk without a size',
      status: '400',
      buildRequest: () =>
        `POST /v1/runs HTTP/1.1\r\n${buildKeyHeaders()}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    },
  ])(
    'is answered $status after the requests that were sent before it in one go: $what',
    async ({ status, buildRequest }) => {
      const earlierRequests = buildGetRequest('/v1/runs') + buildGetRequest('/v1/me');
      const answers = await exchange([earlierRequests + buildRequest()]);
      expect(listOutcomes(answers)).toEqual(['200', '"hasMore"', '200', '"username"', status]);
    },
  );

  test('is the last of its connection to be answered', async () => {
    const next = buildGetRequest('/v1/me');
    const answers = await exchange([`nonsense\r\n\r\n${next}`, next]);
    expect(listOutcomes(answers)).toEqual(['400']);
  });

  test('gets no second answer if its body becomes malformed after the first', async () => {
    const head = `POST /v1/nowhere HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const answers = await exchange([`${head}1\r\na\r\n`], 'zz\r\n');
    expect(listOutcomes(answers)).toEqual(['404']);
  });
});

describe('a request for something that the service does not offer', () => {
  test.each([
    { what: 'a tunnel', request: CONNECT_REQUEST },
    { what: 'the options of the server', request: `OPTIONS * HTTP/1.1\r\n${LAST_HEADERS}\r\n` },
    { what: 'the method TRACE', request: `TRACE /v1/me HTTP/1.1\r\n${LAST_HEADERS}\r\n` },
    { what: 'a method of WebDAV', request: `PROPFIND /v1/me HTTP/1.1\r\n${LAST_HEADERS}\r\n` },
    { what: 'a path with two slashes', request: `GET //v1/me HTTP/1.1\r\n${LAST_HEADERS}\r\n` },
    {
      what: 'an upgrade to a WebSocket',
      request:
        'GET /v1/socket HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\nHost: localhost\r\n\r\n',
    },
  ])('is answered 404 in the envelope: $what', async ({ request }) => {
    const answer = await send(request);
    expect(answer.statusLine).toBe('HTTP/1.1 404 Not Found');
    expect(answer.envelope).toEqual(errorWith('NOT_FOUND_ERROR'));
  });
});

describe('an oversized request', () => {
  test.each([
    {
      what: 'a long header',
      request: `GET /v1/me HTTP/1.1\r\n${LAST_HEADERS}X: ${LONG_TEXT}\r\n\r\n`,
    },
    {
      what: 'a header of megabytes that is still being sent',
      request: `GET /v1/me HTTP/1.1\r\n${LAST_HEADERS}X: ${ENDLESS_TEXT}\r\n\r\n`,
    },
    {
      what: 'a path of megabytes that is still being sent',
      request: `GET /v1/${ENDLESS_TEXT} HTTP/1.1\r\n${LAST_HEADERS}\r\n`,
    },
  ])('is answered 431 in the envelope: $what', async ({ request }) => {
    const answer = await send(request);
    expect(answer.statusLine).toContain(' 431 ');
    expect(answer.envelope).toEqual(errorWith('HEADERS_TOO_LARGE_ERROR'));
  });

  test('is answered 413 if its body has too many bytes, and its connection can be used again', async () => {
    const length = MAX_BODY_BYTES + 1;
    const head = `POST /v1/runs HTTP/1.1\r\n${buildKeyHeaders()}Content-Length: ${length}\r\n\r\n`;
    const lastRequest = `GET /v1/me HTTP/1.1\r\n${buildKeyHeaders()}Connection: close\r\n\r\n`;
    const answers = await exchange([head, 'x'.repeat(length), lastRequest]);
    expect(listOutcomes(answers)).toEqual(['413', '200', '"username"']);
    expect(answers).toContain('"PAYLOAD_TOO_LARGE_ERROR"');
  });

  test.each([
    {
      what: 'values',
      beginning: '{},'.repeat(MAX_BODY_VALUES),
      end: '',
      message: 'the request body holds more than 100,000 values',
    },
    // Above and below the size at which another thread parses the body.
    {
      what: 'levels',
      beginning: '['.repeat(100_000),
      end: ']'.repeat(100_000),
      message: 'the request body has more than 500 levels',
    },
    {
      what: 'levels in a short text',
      beginning: '['.repeat(8000),
      end: ']'.repeat(8000),
      message: 'the request body has more than 500 levels',
    },
  ])('is answered 413 if its body has too many $what', async ({ beginning, end, message }) => {
    const body = `{"inputs":{},"more":[${beginning}{}${end}]}`;
    expect(await service.post('/runs', body)).toMatchObject({
      http: 413,
      status: 'PAYLOAD_TOO_LARGE_ERROR',
      message,
    });
  });
});
