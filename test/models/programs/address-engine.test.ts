import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EngineResult } from '../../../src/models/engine.ts';
import { createAddressEngine } from '../../../src/models/programs/address-engine.ts';
import { png } from '../../support/png.ts';
import { createJob, type JobOptions } from '../job.ts';
import { parseDeclaredModel } from './declared.ts';

const KEY = 'bot-key-0123456789';
let server: Server;
let baseUrl: string;

let requests: {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}[];

let answer: (response: ServerResponse, count: number) => void;

beforeEach(async () => {
  requests = [];
  answer = response => response.end('Hi\n');

  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url, headers } = request;
      requests.push({ method, url, headers, body: Buffer.concat(chunks).toString('utf8') });
      answer(response, requests.length);
    });
  });

  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise(resolve => server.close(resolve));
});

function ask(entry: object, job: JobOptions = {}): Promise<EngineResult> {
  const engine = createAddressEngine({ env: { BOT_KEY: `${KEY}\n` } });
  return engine.run(createJob({ template: 'Hello', ...job, model: parseDeclaredModel(entry) }));
}

const input = (q: string): JobOptions => ({ inputs: { texts: { q }, values: { q } } });

/** Returns the beginning of a compressed text that has no end and nothing in it. */
function buildEmptyBlocks(bytes: number): Buffer {
  const header = gzipSync('').subarray(0, 10);
  return Buffer.concat([header, Buffer.alloc(bytes, Buffer.from([0, 0, 0, 0xff, 0xff]))]);
}

describe('an address', () => {
  it('gets one POST of its body as JSON, and its answer is text as it came', async () => {
    const body = {
      question: '${prompt}',
      history: '${messages}',
      count: '${input.n}',
      all: 'n is ${input.n}',
      top: 3,
    };

    const entry = {
      address: `${baseUrl}/ask`,
      headers: { authorization: 'Bearer ${env.BOT_KEY}' },
      body,
    };

    const job = { inputs: { texts: { n: '1.50' }, values: { n: 1.5 } } };
    expect(await ask(entry, job)).toMatchObject({
      outputs: [{ type: 'text', text: 'Hi\n' }],
      hasFailed: false,
    });
    expect(requests).toMatchObject([
      {
        method: 'POST',
        url: '/ask',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      },
    ]);
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      question: 'Hello',
      history: [{ role: 'user', content: [{ text: 'Hello' }] }],
      count: 1.5,
      all: 'n is 1.50',
      top: 3,
    });
  });

  it('may be asked by another method, and with a text', async () => {
    await ask({
      address: `${baseUrl}/a`,
      method: 'PUT',
      body: 'Q: ${prompt}',
      headers: { 'Content-Type': 'text/x' },
    });
    expect(requests).toMatchObject([
      { method: 'PUT', body: 'Q: Hello', headers: { 'content-type': 'text/x' } },
    ]);
  });

  it.each([
    ['@evil.example/', '/ask/%40evil.example%2F?q=%40evil.example%2F'],
    ['?a=b&c#d', '/ask/%3Fa%3Db%26c%23d?q=%3Fa%3Db%26c%23d'],
    ['${model} ü', '/ask/%24%7Bmodel%7D%20%C3%BC?q=%24%7Bmodel%7D%20%C3%BC'],
  ])('gets a value percent-encoded: %s', async (value, url) => {
    await ask({ address: `${baseUrl}/ask/\${input.q}?q=\${input.q}` }, input(value));
    expect(requests).toMatchObject([{ url }]);
  });

  it.each(['..', '.'])('is not asked at another path: %s', async value => {
    const result = await ask({ address: `${baseUrl}/a/\${input.q}/b` }, input(value));
    expect(result).toMatchObject({ hasFailed: true, isRefused: true, fault: 'unfit' });
    expect(requests).toEqual([]);
  });

  it.each(['a\r\nx-other: b', 'a\nb', 'a\u0000b'])('gets no second header: %j', async value => {
    const result = await ask({ address: baseUrl, headers: { 'x-q': '${input.q}' } }, input(value));
    expect(result).toMatchObject({ hasFailed: true, isRefused: true, fault: 'unfit' });
    expect(requests).toEqual([]);
  });

  it('receives pictures as data URLs, or takes none', async () => {
    const job = { template: '{{media url=a}}', images: [png(1, 1)] };
    await ask({ address: baseUrl, body: { images: '${images}' } }, job);
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      images: [expect.stringMatching(/^data:image\/png;base64,/)],
    });
    expect(await ask({ address: baseUrl, body: {} }, job)).toMatchObject({
      hasFailed: true,
      fault: 'unfit',
    });
  });

  it('fails in the words of the answer, without what the environment gave', async () => {
    answer = response =>
      response.writeHead(500).end(`{"error": {"message": "no room for ${KEY}"}}`);
    expect(await ask({ address: `${baseUrl}/`, headers: { key: '${env.BOT_KEY}' } })).toMatchObject(
      {
        outputs: [{ message: 'thing answered 500 no room for ***' }],
        hasFailed: true,
        isRefused: false,
      },
    );
    expect(requests).toHaveLength(1);
  });

  it('fails without what the environment gave if its answer cannot be read', async () => {
    answer = response => response.end(`{"headers": {"key": "${KEY}"}}`);
    expect(
      await ask({ address: `${baseUrl}/`, headers: { key: '${env.BOT_KEY}' }, output: 'a' }),
    ).toMatchObject({
      outputs: [
        {
          message: expect.stringMatching(
            /it begins with \{"headers": \{"key": "\*{3}"\}/,
          ) as string,
        },
      ],
    });
  });

  it('may give an answer of 8 MiB of text', async () => {
    answer = response => response.end('x'.repeat(8 * 1024 * 1024));
    expect(await ask({ address: baseUrl })).toMatchObject({
      hasFailed: false,
      outputs: [{ type: 'text' }],
    });
  });

  it('may not give an answer of more', async () => {
    answer = response => response.end('x'.repeat(8 * 1024 * 1024 + 1));
    expect(await ask({ address: baseUrl })).toMatchObject({
      hasFailed: true,
      outputs: [{ type: 'error', message: 'thing returned more than 8 MiB of text' }],
    });
  });

  it('may compress its answer, although no request asks for that', async () => {
    answer = response =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('Hi'));
    expect(await ask({ address: baseUrl })).toMatchObject({
      outputs: [{ text: 'Hi' }],
      hasFailed: false,
    });
  });

  it.each([
    [
      'zstd',
      Buffer.from('Hi'),
      /encoded as zstd, which was not requested; it may have been paid for$/,
    ],
    ['gzip', Buffer.from('Hi'), /not encoded as its headers say; it may have been paid for$/],
    [
      'gzip',
      gzipSync(Buffer.alloc(65 * 1024 * 1024)),
      /larger than 64 MiB; it may have been paid for$/,
    ],
    ['gzip', buildEmptyBlocks(65 * 1024 * 1024), /larger than 64 MiB; it may have been paid for$/],
  ])('fails the run if its answer in %s cannot be read', async (encoding, body, message) => {
    answer = response => response.writeHead(200, { 'content-encoding': encoding }).end(body);
    expect(await ask({ address: baseUrl })).toMatchObject({
      outputs: [{ message: expect.stringMatching(message) as string }],
      hasFailed: true,
    });
  });

  it('is not followed to another address', async () => {
    answer = response => response.writeHead(302, { location: `${baseUrl}/other` }).end();
    const { outputs } = await ask({ address: `${baseUrl}/` });
    expect(outputs).toMatchObject([
      { message: expect.stringMatching(/^thing redirects to/) as string },
    ]);
    expect(requests).toHaveLength(1);
  });

  it('is asked again only after a 429', async () => {
    const waits: number[] = [];
    const sleep = async (ms: number): Promise<void> => void waits.push(ms);

    answer = (response, count) => {
      if (count < 3) {
        response.writeHead(429, { 'retry-after': '2' }).end('busy');
      } else {
        response.end('{"a": "Hi", "cost": 0.1}');
      }
    };

    expect(await ask({ address: baseUrl, output: 'a', cost: 'cost' }, { sleep })).toMatchObject({
      outputs: [{ text: 'Hi' }],
      dollars: 0.1,
    });
    expect(waits).toEqual([2000, 2000]);

    answer = response => response.writeHead(529).end('overloaded_error');
    expect(await ask({ address: baseUrl }, { sleep })).toMatchObject({ hasFailed: true });
    expect(requests).toHaveLength(4);
  });

  it('that cannot be reached, or is too slow, makes a failed run', async () => {
    answer = () => {};
    expect(await ask({ address: baseUrl, timeout: '300ms' })).toMatchObject({
      outputs: [{ message: 'thing took longer than 0.3 s' }],
      hasFailed: true,
    });
    const gone = await ask({ address: 'http://127.0.0.1:1/' });
    expect(gone).toMatchObject({ hasFailed: true, isRefused: true, fault: 'unreachable' });
  });

  it('that breaks its answer off may have been paid for', async () => {
    answer = response => {
      response.writeHead(200, { 'content-length': '100' }).write('half');
      setImmediate(() => response.destroy());
    };
    const { outputs, hasFailed } = await ask({ address: baseUrl });
    expect({ outputs, hasFailed }).toMatchObject({
      outputs: [{ message: expect.stringMatching(/it may have been paid for$/) as string }],
      hasFailed: true,
    });
  });
});
