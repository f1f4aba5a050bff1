import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  NetworkError,
  NotFoundError,
  ProtocolError,
  RateLimitError,
} from '../../src/client/errors.ts';
import type { AnswerHeaders, Transport, TransportResponse } from '../../src/client/transport.ts';
import {
  getRejection,
  startScriptedClient,
  type TestClient,
  testClient,
} from '../support/client.ts';
import { type Exchange, startScriptedService } from '../support/scripted-service.ts';

const picture = Buffer.from('not quite a picture');

const png = {
  headers: { 'content-type': 'image/png', 'content-length': String(picture.length) },
  body: picture,
};

/** Starts a service and a client of it, and returns them with the URL of a picture. */
async function startScript(...script: readonly Exchange[]) {
  const { service, client } = await startScriptedClient(script, { cliAgent: () => 'hash' });
  return { service, client, url: `${service.origin}/media/a.png?signature=secret` };
}

async function readDownload(client: TestClient, url: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of (await client.download(url)).body) pieces.push(piece);
  return Buffer.concat(pieces);
}

function redirectTo(location: string): Exchange {
  return { answer: { status: 302, headers: { location }, body: 'moved' } };
}

describe('a download', () => {
  it('comes with its type and length, without the key or anything of the service', async () => {
    const headers = { authorization: null, 'cli-agent': null, cookie: null };
    const { client, url } = await startScript({
      expect: { method: 'GET', path: '/media/a.png', query: { signature: 'secret' }, headers },
      answer: png,
    });
    const { body, ...rest } = await client.download(url);

    expect(rest).toEqual({ status: 200, contentType: 'image/png', length: picture.length });

    const pieces: Uint8Array[] = [];
    for await (const piece of body) pieces.push(piece);

    expect(Buffer.concat(pieces)).toEqual(picture);
  });

  it('asks for an unencoded answer, and decodes what a server encodes anyway', async () => {
    const headers = { 'content-encoding': 'gzip', 'content-type': 'image/png' };
    const expectation = { headers: { 'accept-encoding': 'identity' } };
    const { client, url } = await startScript({
      expect: expectation,
      answer: { headers, body: gzipSync(picture) },
    });
    const { length, body } = await client.download(url);

    expect(length).toBeUndefined();

    for await (const piece of body) expect(Buffer.from(piece)).toEqual(picture);
  });

  it('arrives in pieces of less than 1 MiB', async () => {
    const size = 32 * 1024 * 1024;
    const { client, url } = await startScript({ answer: { body: Buffer.alloc(size) } });

    let largest = 0;
    let bytes = 0;
    for await (const piece of (await client.download(url)).body) {
      largest = Math.max(largest, piece.byteLength);
      bytes += piece.byteLength;
    }

    expect(bytes).toBe(size);
    expect(largest).toBeLessThan(1024 * 1024);
  });

  it('can be abandoned, and closes its connection', async () => {
    const answer = { ...png, stayOpen: true, headers: { 'content-length': '1000' } };
    const { client, service, url } = await startScript({ answer, times: 2 });
    for await (const piece of (await client.download(url)).body) if (piece.byteLength > 0) break;
    await expect.poll(() => service.openConnections()).toBe(0);
    await (await client.download(url)).body[Symbol.asyncIterator]().return?.();
    await expect.poll(() => service.openConnections()).toBe(0);
  });

  it.each([
    ['with a length', png],
    ['in chunks', { body: picture, headers: { 'transfer-encoding': 'chunked' } }],
  ])('cut short (%s) is a fault of the network', async (_, answer) => {
    const { client, url } = await startScript({ answer: { ...answer, cutAfter: 5 } });
    const error = await getRejection(readDownload(client, url), NetworkError);
    expect(error.nothingSent).toBe(false);
  });

  it.each([4, 6])(
    'of %i bytes instead of 5 is incomplete, even if the transport reports no fault',
    async size => {
      const { service } = await startScript();
      const transport = new OneAnswer({ 'content-length': '5' }, Buffer.alloc(size));
      const client = testClient(service.baseUrl, { transport });
      const error = await getRejection(
        readDownload(client, `${service.origin}/media/a.png`),
        NetworkError,
      );
      expect(error.message).toContain(`${size} of 5 bytes`);
    },
  );

  it.each([403, 404, 410])('answered with HTTP %i says how long such URLs live', async status => {
    const { client, url } = await startScript({
      answer: { status, headers: { 'content-type': 'image/png' }, body: 'gone' },
    });
    const error = await getRejection(client.download(url), NotFoundError);
    expect(error.httpStatus).toBe(status);
    expect(error.message).toMatch(/24 hours/);
    expect(error.message).not.toContain('secret');
  });

  it.each([204, 206, 304, 400, 401])('answered with HTTP %i is refused', async status => {
    const { client, url } = await startScript({ answer: { status } });
    const error = await getRejection(client.download(url), ProtocolError);
    expect(error.httpStatus).toBe(status);
  });

  it('is retried if that may help', async () => {
    const { client, url } = await startScript(
      { answer: 'reset-after-body' },
      { answer: { status: 503 } },
      { answer: { status: 429, headers: { 'retry-after': '3' } } },
      { answer: png },
    );
    expect(await readDownload(client, url)).toEqual(picture);
    expect(client.slept).toEqual([500, 1000, 3000]);
  });

  it('is tried four times at most', async () => {
    const { client, url } = await startScript({ answer: { status: 429 }, times: 4 });
    await getRejection(client.download(url), RateLimitError);
  });

  it('is ended by its signal, also while it comes in', async () => {
    const { client, url } = await startScript({
      answer: { ...png, stayOpen: true, headers: { 'content-length': '1000' } },
    });
    const controller = new AbortController();
    const reason = new Error('enough');
    const { body } = await client.download(url, { signal: controller.signal });
    const reading = (async () => {
      for await (const piece of body) if (piece.byteLength > 0) controller.abort(reason);
    })();

    await expect(reading).rejects.toBe(reason);
  });
});

describe('redirects of a download', () => {
  it('are followed, to another origin as well, without the key', async () => {
    const other = await startScriptedService([
      {
        expect: { path: '/b.png', headers: { authorization: null, 'cli-agent': null } },
        answer: png,
      },
    ]);
    const { client, url } = await startScript(
      redirectTo('/media/next.png'),
      redirectTo(`${other.origin}/b.png`),
    );

    expect(await readDownload(client, url)).toEqual(picture);

    await other.close();
    other.verify();
  });

  it('are followed five times', async () => {
    const { client, url } = await startScript(
      { ...redirectTo('/again'), times: 5 },
      { answer: png },
    );
    expect(await readDownload(client, url)).toEqual(picture);
  });

  it('are not followed a sixth time', async () => {
    const { client, url } = await startScript({ ...redirectTo('/again'), times: 6 });
    await getRejection(client.download(url), ProtocolError);
  });

  it.each([
    'http://cdn.example/a.png',
    'file:///etc/passwd',
    'http://169.254.169.254/latest/meta-data',
    'http://[',
  ])('to %s are refused', async location => {
    const { client, url } = await startScript(redirectTo(location));
    await getRejection(client.download(url), ProtocolError);
    expect(client.slept).toEqual([]);
  });

  it('without a target are refused', async () => {
    const { client, url } = await startScript({ answer: { status: 302 } });
    await getRejection(client.download(url), ProtocolError);
  });
});

/** A transport that gives one answer to whatever it is asked. */
class OneAnswer implements Transport {
  readonly #headers: AnswerHeaders;
  readonly #body: Uint8Array;

  constructor(headers: AnswerHeaders, body: Uint8Array) {
    this.#headers = headers;
    this.#body = body;
  }

  request(): Promise<TransportResponse> {
    const body = this.#body;
    async function* pieces(): AsyncGenerator<Uint8Array> {
      yield body;
    }
    return Promise.resolve({ status: 200, headers: this.#headers, body: pieces() });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
