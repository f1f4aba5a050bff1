import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EngineResult } from '../../../src/models/engine.ts';
import { createAddressEngine } from '../../../src/models/programs/address-engine.ts';
import { png } from '../../support/png.ts';
import { createJob, type JobOptions } from '../job.ts';
import { parseDeclaredModel } from './parse-declared-model.ts';

const MIB = 1024 * 1024;

/** A key in the environment of the engine, which no error may show. */
const KEY = 'bot-key-0123456789';

interface ReceivedRequest {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

let server: Server;
let baseUrl: string;

/** The requests of a test to the server. */
let requests: ReceivedRequest[];

/** Answers the request of this count; tests that need another answer replace it. */
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

/** Runs a model that is declared by this entry. */
function ask(entry: object, job: JobOptions = {}): Promise<EngineResult> {
  const engine = createAddressEngine({ env: { BOT_KEY: `${KEY}\n` } });
  return engine.run(createJob({ template: 'Hello', ...job, model: parseDeclaredModel(entry) }));
}

const createInput = (q: string): JobOptions => ({ inputs: { texts: { q }, values: { q } } });

/** Returns the beginning of a gzip stream that has no end, and whose blocks hold nothing. */
function buildEmptyGzipBlocks(byteCount: number): Buffer {
  const header = gzipSync('').subarray(0, 10);
  const emptyBlock = Buffer.from([0, 0, 0, 0xff, 0xff]);
  return Buffer.concat([header, Buffer.alloc(byteCount, emptyBlock)]);
}

describe('an address', () => {
  it('is sent one POST with its headers', async () => {
    await ask({
      address: `${baseUrl}/ask`,
      headers: { authorization: 'Bearer ${env.BOT_KEY}' },
      body: {},
    });
    expect(requests).toMatchObject([
      {
        method: 'POST',
        url: '/ask',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      },
    ]);
  });

  it('is sent its body as JSON, with what the placeholders stand for', async () => {
    const body = {
      question: '${prompt}',
      history: '${messages}',
      count: '${input.n}',
      all: 'n is ${input.n}',
      top: 3,
    };
    await ask({ address: baseUrl, body }, { inputs: { texts: { n: '1.50' }, values: { n: 1.5 } } });

    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      question: 'Hello',
      history: [{ role: 'user', content: [{ text: 'Hello' }] }],
      count: 1.5,
      all: 'n is 1.50',
      top: 3,
    });
  });

  it('gives its answer as text, unchanged', async () => {
    expect(await ask({ address: baseUrl })).toMatchObject({
      outputs: [{ type: 'text', text: 'Hi\n' }],
      hasFailed: false,
    });
  });

  it('may be asked by another method, with a body of text', async () => {
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
    { value: '@evil.example/', url: '/ask/%40evil.example%2F?q=%40evil.example%2F' },
    { value: '?a=b&c#d', url: '/ask/%3Fa%3Db%26c%23d?q=%3Fa%3Db%26c%23d' },
    { value: '${model} ü', url: '/ask/%24%7Bmodel%7D%20%C3%BC?q=%24%7Bmodel%7D%20%C3%BC' },
  ])('holds an input percent-encoded: $value', async ({ value, url }) => {
    await ask({ address: `${baseUrl}/ask/\${input.q}?q=\${input.q}` }, createInput(value));
    expect(requests).toMatchObject([{ url }]);
  });

  it.each(['..', '.'])('is not asked at the path that an input of "%s" leads to', async value => {
    const result = await ask({ address: `${baseUrl}/a/\${input.q}/b` }, createInput(value));
    expect(result).toMatchObject({ hasFailed: true, isRefused: true, fault: 'unfit' });
    expect(requests).toEqual([]);
  });

  it.each(['a\r\nx-other: b', 'a\nb', 'a\u0000b'])(
    'is sent no second header that an input adds: %j',
    async value => {
      const result = await ask(
        { address: baseUrl, headers: { 'x-q': '${input.q}' } },
        createInput(value),
      );
      expect(result).toMatchObject({ hasFailed: true, isRefused: true, fault: 'unfit' });
      expect(requests).toEqual([]);
    },
  );

  it('is sent images as data URLs', async () => {
    const job = { template: '{{media url=a}}', images: [png(1, 1)] };
    await ask({ address: baseUrl, body: { images: '${images}' } }, job);
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      images: [`data:image/png;base64,${png(1, 1).toString('base64')}`],
    });
  });

  it('without a place for images is not asked about one', async () => {
    const job = { template: '{{media url=a}}', images: [png(1, 1)] };
    const result = await ask({ address: baseUrl, body: {} }, job);
    expect(result).toMatchObject({ hasFailed: true, fault: 'unfit' });
    expect(requests).toEqual([]);
  });

  it('fails the run in the words of its answer, without the keys of the environment', async () => {
    answer = response =>
      response.writeHead(500).end(`{"error": {"message": "no room for ${KEY}"}}`);
    const result = await ask({ address: baseUrl, headers: { key: '${env.BOT_KEY}' } });
    expect(result).toMatchObject({
      outputs: [{ message: 'declared-model answered 500 no room for ***' }],
      hasFailed: true,
      isRefused: false,
    });
    expect(requests).toHaveLength(1);
  });

  it('fails the run without showing keys of the environment if its answer cannot be read', async () => {
    answer = response => response.end(`{"headers": {"key": "${KEY}"}}`);
    const entry = { address: baseUrl, headers: { key: '${env.BOT_KEY}' }, output: 'a' };
    expect(await ask(entry)).toMatchObject({
      hasFailed: true,
      outputs: [
        {
          message: expect.stringContaining('it begins with {"headers": {"key": "***"}') as string,
        },
      ],
    });
  });

  it('may give an answer of 8 MiB of text', async () => {
    const text = 'x'.repeat(8 * MIB);
    answer = response => response.end(text);
    const { hasFailed, outputs } = await ask({ address: baseUrl });
    expect(hasFailed).toBe(false);
    expect(outputs).toEqual([{ type: 'text', text }]);
  });

  it('fails the run if its answer is larger than 8 MiB', async () => {
    answer = response => response.end('x'.repeat(8 * MIB + 1));
    expect(await ask({ address: baseUrl })).toMatchObject({
      hasFailed: true,
      outputs: [{ type: 'error', message: 'declared-model returned more than 8 MiB of text' }],
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
    {
      what: 'an encoding that was not requested',
      encoding: 'zstd',
      body: Buffer.from('Hi'),
      message: 'encoded as zstd, which was not requested; it may have been paid for',
    },
    {
      what: 'an encoding that it does not have',
      encoding: 'gzip',
      body: Buffer.from('Hi'),
      message: 'not encoded as its headers say; it may have been paid for',
    },
    {
      what: 'more than 64 MiB of text in a few compressed bytes',
      encoding: 'gzip',
      body: gzipSync(Buffer.alloc(65 * MIB)),
      message: 'larger than 64 MiB; it may have been paid for',
    },
    {
      what: 'more than 64 MiB of compressed bytes without text',
      encoding: 'gzip',
      body: buildEmptyGzipBlocks(65 * MIB),
      message: 'larger than 64 MiB; it may have been paid for',
    },
  ])('fails the run if its answer has $what', async ({ encoding, body, message }) => {
    answer = response => response.writeHead(200, { 'content-encoding': encoding }).end(body);
    expect(await ask({ address: baseUrl })).toMatchObject({
      outputs: [{ message: expect.stringContaining(message) as string }],
      hasFailed: true,
    });
  });

  it('is not followed to another address', async () => {
    answer = response => response.writeHead(302, { location: `${baseUrl}/other` }).end();
    const { outputs } = await ask({ address: `${baseUrl}/` });
    expect(outputs).toMatchObject([
      { message: expect.stringContaining('declared-model redirects to') as string },
    ]);
    expect(requests).toHaveLength(1);
  });

  it('is asked again after a 429, as late as it says', async () => {
    const delaysMs: number[] = [];
    const sleep = async (delayMs: number): Promise<void> => void delaysMs.push(delayMs);
    answer = (response, count) => {
      if (count < 3) {
        response.writeHead(429, { 'retry-after': '2' }).end('busy');
      } else {
        response.end('Hi');
      }
    };

    expect(await ask({ address: baseUrl }, { sleep })).toMatchObject({ outputs: [{ text: 'Hi' }] });
    expect(delaysMs).toEqual([2000, 2000]);
  });

  it('is not asked again after another status, such as 529', async () => {
    answer = response => response.writeHead(529).end('overloaded_error');
    expect(await ask({ address: baseUrl })).toMatchObject({ hasFailed: true });
    expect(requests).toHaveLength(1);
  });

  it('may give its text and what it cost as fields of JSON', async () => {
    answer = response => response.end('{"a": "Hi", "cost": 0.1}');
    expect(await ask({ address: baseUrl, output: 'a', cost: 'cost' })).toMatchObject({
      outputs: [{ text: 'Hi' }],
      dollars: 0.1,
    });
  });

  it('fails the run if it does not answer within its timeout', async () => {
    answer = () => {};
    expect(await ask({ address: baseUrl, timeout: '300ms' })).toMatchObject({
      outputs: [{ message: 'declared-model took longer than 0.3 s' }],
      hasFailed: true,
    });
  });

  it('fails the run, which cost nothing, if it cannot be reached', async () => {
    expect(await ask({ address: 'http://127.0.0.1:1/' })).toMatchObject({
      hasFailed: true,
      isRefused: true,
      fault: 'unreachable',
    });
  });

  it('fails the run, which may have been paid for, if it breaks its answer off', async () => {
    answer = response => {
      response.writeHead(200, { 'content-length': '100' }).write('half');
      setImmediate(() => response.destroy());
    };
    expect(await ask({ address: baseUrl })).toMatchObject({
      outputs: [{ message: expect.stringContaining('it may have been paid for') as string }],
      hasFailed: true,
    });
  });
});
