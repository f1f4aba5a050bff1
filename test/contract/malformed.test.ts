import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_BODY_BYTES, MAX_BODY_VALUES, type Run } from '../../src/wire/index.ts';
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

/** Sends bytes as they are and reads the answer to its end. */
async function send(...pieces: string[]): Promise<RawAnswer> {
  const text = await exchange(...pieces);
  const [head = '', body = ''] = text.split('\r\n\r\n');

  const [statusLine = '', ...headers] = head.split('\r\n');
  try {
    return { statusLine, headers: headers.join('\n').toLowerCase(), envelope: JSON.parse(body) };
  } catch {
    throw new Error(`no envelope: ${text}`);
  }
}

/** Sends bytes as they are and gives what comes back until the connection is closed. */
function exchange(...pieces: string[]): Promise<string> {
  const { port } = new URL(service.service.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (piece: string) => {
      text += piece;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    for (const piece of pieces) socket.write(piece);
  });
}

/** Sends the rest once something has come back. */
function sendAfterAnswer(request: string, rest: string): Promise<string> {
  const { port } = new URL(service.service.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8');
    socket.once('data', () => socket.write(rest));
    socket.on('data', (piece: string) => {
      text += piece;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    socket.write(request);
  });
}

const host = 'Host: localhost\r\nConnection: close\r\n';
const errorWith = (status: string) => ({
  status,
  message: expect.any(String) as string,
  data: null,
});

describe('every answer is in the envelope', () => {
  test.each([
    ['no HTTP at all', 'hello there\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown method', `FETCH /v1/runs HTTP/1.1\r\n${host}\r\n`],
    ['a header without a name', `GET /v1/me HTTP/1.1\r\n: x\r\n${host}\r\n`],
    ['a header with a line break in it', `GET /v1/me HTTP/1.1\r\nA: b\rc\r\n${host}\r\n`],
    ['a length that is none', `POST /v1/runs HTTP/1.1\r\nContent-Length: many\r\n${host}\r\n`],
    [
      'two ways to tell a length',
      `POST /v1/runs HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n${host}\r\n`,
    ],
    [
      'a chunk that is none',
      `POST /v1/nowhere HTTP/1.1\r\nTransfer-Encoding: chunked\r\n${host}\r\nzz\r\n`,
    ],
    ['a path that is not a URL', `GET /v1/%zz HTTP/1.1\r\n${host}\r\n`],
    ['an expectation nobody knows', `GET /v1/me HTTP/1.1\r\nExpect: a-miracle\r\n${host}\r\n`],
  ])('400 for %s', async (_, request) => {
    const answer = await send(request);
    expect(answer.statusLine).toBe('HTTP/1.1 400 Bad Request');
    expect(answer.headers).toContain('content-type: application/json; charset=utf-8');
    expect(answer.envelope).toEqual(errorWith('BAD_REQUEST_ERROR'));
  });

  test('431 for headers that are too large', async () => {
    const answer = await send(`GET /v1/me HTTP/1.1\r\n${host}X: ${'x'.repeat(20_000)}\r\n\r\n`);
    expect(answer.statusLine).toContain(' 431 ');
    expect(answer.envelope).toEqual(errorWith('HEADERS_TOO_LARGE_ERROR'));
  });

  test.each([
    ['header', `GET /v1/me HTTP/1.1\r\n${host}X: ${'x'.repeat(10_000_000)}\r\n\r\n`],
    ['path', `GET /v1/${'x'.repeat(10_000_000)} HTTP/1.1\r\n${host}\r\n`],
  ])('431 reaches a caller that is still sending a %s of megabytes', async (_, request) => {
    const answer = await send(request);
    expect(answer.statusLine).toContain(' 431 ');
    expect(answer.envelope).toEqual(errorWith('HEADERS_TOO_LARGE_ERROR'));
  });

  const keyHeaders = () => `Host: localhost\r\nAuthorization: Bearer ${service.key}\r\n`;
  const read = (path: string) => `GET ${path} HTTP/1.1\r\n${keyHeaders()}\r\n`;
  const listOutcomes = (answers: string) =>
    answers.match(/(?<=HTTP\/1\.1 )\d+|"hasMore"|"username"/g);

  test.each([
    ['a request that is not HTTP', '400', () => 'nonsense\r\n\r\n'],
    [
      'a path that is too long',
      '431',
      () => `GET /v1/${'x'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n`,
    ],
    ['a tunnel', '404', () => 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'],
    [
      'a body that is not chunked as it says',
      '400',
      () => `POST /v1/runs HTTP/1.1\r\n${keyHeaders()}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    ],
  ])('after requests sent in one go, %s is answered last', async (_, status, request) => {
    const answers = await exchange(read('/v1/runs') + read('/v1/me') + request());
    expect(listOutcomes(answers)).toEqual(['200', '"hasMore"', '200', '"username"', status]);
  });

  test('what follows a refused request is not answered', async () => {
    const answers = await exchange(`nonsense\r\n\r\n${read('/v1/me')}`, read('/v1/me'));
    expect(listOutcomes(answers)).toEqual(['400']);
  });

  test('a body that goes wrong after its answer gets no second one', async () => {
    const answer = await sendAfterAnswer(
      `POST /v1/nowhere HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n`,
      'zz\r\n',
    );
    expect(listOutcomes(answer)).toEqual(['404']);
  });

  test('413 for a body that is too large, and the connection lives on', async () => {
    const length = MAX_BODY_BYTES + 1;
    const authorization = `Authorization: Bearer ${service.key}\r\n`;
    const head = `POST /v1/runs HTTP/1.1\r\nHost: localhost\r\n${authorization}Content-Length: ${length}\r\n\r\n`;
    const next = `GET /v1/me HTTP/1.1\r\n${authorization}${host}\r\n`;
    const answers = await exchange(head, 'x'.repeat(length), next);
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
    expect(answers).toContain('"PAYLOAD_TOO_LARGE_ERROR"');
  });

  test.each([
    ['values', '{},'.repeat(MAX_BODY_VALUES), '', 'holds more than 100,000 values'],
    // Above and below the size at which another thread parses the body.
    ['levels', '['.repeat(100_000), ']'.repeat(100_000), 'has more than 500 levels'],
    ['levels, if it is short', '['.repeat(8000), ']'.repeat(8000), 'has more than 500 levels'],
  ])(
    '413 for a body of too many %s, before they take any time',
    async (_, beginning, end, what) => {
      const body = `{"inputs":{},"more":[${beginning}{}${end}]}`;
      expect(await service.post('/runs', body)).toMatchObject({
        http: 413,
        status: 'PAYLOAD_TOO_LARGE_ERROR',
        message: `the request body ${what}`,
      });
    },
  );

  test('404 for a tunnel', async () => {
    const answer = await send('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n');
    expect(answer.statusLine).toContain(' 404 ');
    expect(answer.envelope).toEqual(errorWith('NOT_FOUND_ERROR'));
  });

  test.each([
    `OPTIONS * HTTP/1.1\r\n${host}\r\n`,
    `TRACE /v1/me HTTP/1.1\r\n${host}\r\n`,
    `PROPFIND /v1/me HTTP/1.1\r\n${host}\r\n`,
    `GET //v1/me HTTP/1.1\r\n${host}\r\n`,
    `GET /v1/me HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\nHost: localhost\r\n\r\n`.replace(
      '/me',
      '/socket',
    ),
  ])('404 for another method or path: %j', async request => {
    const answer = await send(request);
    expect(answer.statusLine).toBe('HTTP/1.1 404 Not Found');
    expect(answer.envelope).toEqual(errorWith('NOT_FOUND_ERROR'));
  });
});

describe('unknown route, wrong method', () => {
  test.each([
    ['GET', '/nowhere'],
    ['GET', ''],
    ['GET', '/runs/x/y'],
    ['GET', '/Runs'],
    ['DELETE', '/runs/00000000-0000-4000-8000-000000000000'],
    ['PUT', '/runs'],
    ['PATCH', '/me'],
    ['POST', '/resources'],
    ['POST', '/prompts/publish?q=a'],
  ])('404 NOT_FOUND_ERROR for %s %s, with a key and without', async (method, target) => {
    const body = method === 'GET' ? {} : { body: '{' };
    for (const key of [service.key, '']) {
      const answer = await service.call(method, target, { key, ...body });
      expect(answer).toMatchObject({ http: 404, status: 'NOT_FOUND_ERROR', data: null });
    }
  });
});

test('GET /openapi.json describes the interface without a key', async () => {
  const answer = await fetch(new URL('/openapi.json', service.service.url));
  const description = (await answer.json()) as {
    openapi: string;
    paths: Record<string, Record<string, unknown>>;
  };

  expect(description.openapi).toBe('3.1.0');

  const routes = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method} ${path}`),
  );
  expect(routes.sort()).toEqual([
    'delete /v1/prompts/{promptId}',
    'delete /v1/prompts/{promptId}/labels/{label}',
    'get /healthz',
    'get /media/{file}',
    'get /readyz',
    'get /v1/me',
    'get /v1/me/credits',
    'get /v1/prompt-versions/{promptVersionId}',
    'get /v1/prompts',
    'get /v1/prompts/publish',
    'get /v1/prompts/{promptId}',
    'get /v1/prompts/{promptId}/versions',
    'get /v1/resources',
    'get /v1/runs',
    'get /v1/runs/{runId}',
    'get /v1/runs/{runId}/request',
    'post /v1/runs',
    'post /v1/runs/{runId}/cancel',
    'put /v1/prompts/{promptId}',
    'put /v1/prompts/{promptId}/labels/{label}',
  ]);
});

test('every header that an answer of the interface carries is described', async () => {
  const answer = await fetch(new URL('/openapi.json', service.service.url));
  const { paths } = (await answer.json()) as {
    paths: Record<string, Record<string, { responses: Record<string, { headers?: object }> }>>;
  };
  const listDescribedStatuses = (status: number): string[] =>
    Object.keys(paths['/v1/runs']?.['get']?.responses[status]?.headers ?? {}).map(name =>
      name.toLowerCase(),
    );

  const ordinary = [
    'content-type',
    'content-length',
    'date',
    'connection',
    'keep-alive',
    'x-content-type-options',
  ];

  for (const target of ['/runs', '/runs?limit=0']) {
    const { http, headers } = await service.get(target, { headers: { 'cli-agent': 'another' } });
    const addedHeaders = [...headers.keys()].filter(name => !ordinary.includes(name));
    expect(addedHeaders).toContain('idempotency');
    expect(addedHeaders.filter(name => !listDescribedStatuses(http).includes(name))).toEqual([]);
  }

  expect(listDescribedStatuses(429)).toContain('retry-after');
  expect(listDescribedStatuses(401)).toEqual([]);
});

describe('the character NUL', () => {
  const refused = expect.stringMatching(/holds the character NUL \(U\+0000\)/);

  const run = async (inputs: object, runOptions = {}) => ({
    promptVersionId: await service.versionOf('hello'),
    inputs,
    runOptions,
  });

  test.each([
    ['an input', { textInputs: { name: 'a\0b' } }, {}],
    ['the name of an input', { textInputs: { name: 'a', 'b\0': 'c' } }, {}],
    ['an input after a backslash', { textInputs: { name: '\\\0' } }, {}],
    ['an option', { textInputs: { name: 'a' } }, { quality: '\0' }],
  ])('in %s is a 400', async (_, inputs, runOptions) => {
    const answer = await service.post('/runs', await run(inputs, runOptions));
    expect(answer).toMatchObject({ http: 400, status: 'BAD_REQUEST_ERROR', message: refused });
  });

  test.each([
    '/prompts/publish?q=a%00b',
    '/runs?idempotencyKey=%00',
    '/runs?startingAfter=%00',
    '/runs/a%00b',
  ])('in %s is a 400', async target => {
    expect(await service.get(target)).toMatchObject({ http: 400, message: refused });
  });

  test('may be written out: a backslash and u0000', async () => {
    const answer = await service.post<Run>('/runs', await run({ textInputs: { name: '\\u0000' } }));
    expect(answer.data.outputs[0]?.data).toContain('\\u0000');
  });

  test.each([
    ['title', 'title: "a\\0b"'],
    ['description', 'description: "a\\0b"'],
    ['model', 'model: "echo\\0"'],
  ])('in the %s of a published prompt is a fault with its place', async (name, line) => {
    const file = `---\n${line}\n---\nHello\n`;
    const message = `${name} can't hold the character NUL (U+0000): remove it`;
    const answer = await service.call<{ faults: unknown }>('PUT', '/prompts/nul-in-text', {
      body: { file },
    });

    expect(answer).toMatchObject({ http: 422, data: { faults: [{ line: 2, message }] } });
    await expect(service.publish('nul-in-text', file)).rejects.toThrow(
      `nul-in-text.prompt:2: ${message}`,
    );
  });

  test('in any other value of a published prompt is kept', async () => {
    const front = `---
"x\\0": "y\\0"
metadata: { "a\\0": "b\\0" }
config: { "c\\0": "d\\0", stop: ["\\0"] }
input: { schema: { "e?": "string, f\\0" }, default: { e: "g\\0" } }
---
{{e}}`;
    const { promptId, promptVersionId } = await service.publish('nul-elsewhere', front);
    for (const target of [
      `/prompts/${promptId}`,
      `/prompts/${promptId}/versions`,
      `/prompt-versions/${promptVersionId}`,
    ]) {
      await service.data(target);
    }

    const { http } = await service.post('/runs', { promptVersionId, inputs: {} });
    expect(http).toBe(200);
  });

  test.each([
    ['PUT', '/prompts/nul', { file: 'a\0' }],
    ['PUT', '/prompts/nul', { file: '{{> b}}', partials: { b: 'c\0' } }],
    ['PUT', '/prompts/nul', { file: '{{> b}}', partials: { 'b\0': 'c' } }],
    ['PUT', '/prompts/a%00b', { file: 'a' }],
    ['PUT', '/prompts/hello/labels/a%00b', { promptVersionId: 'x' }],
    ['PUT', '/prompts/hello/labels/a', { promptVersionId: 'x\0' }],
    ['DELETE', '/prompts/hello/labels/a%00b', undefined],
    ['DELETE', '/prompts/hello%00', undefined],
    ['GET', '/prompts/hello%00/versions', undefined],
    ['GET', '/prompt-versions/%00', undefined],
    ['POST', '/runs/a%00b/cancel', undefined],
  ])('in %s %s is a 400', async (method, target, body) => {
    expect(await service.call(method, target, { body })).toMatchObject({
      http: 400,
      message: refused,
    });
  });

  test('in the answer of a model is U+FFFD', async () => {
    await service.publish(
      'nul',
      '---\nmodel: echo\ninput:\n  schema: { a?: string }\n  default: { a: "x\\0y" }\n---\n{{a}}',
    );
    const body = { promptVersionId: await service.versionOf('nul'), inputs: {} };
    const { data } = await service.post<Run>('/runs', body);

    expect(data.outputs).toEqual([{ type: 'text', data: 'x\uFFFDy' }]);
    expect(await service.data(`/runs/${data.runId}`)).toEqual(data);
  });
});
