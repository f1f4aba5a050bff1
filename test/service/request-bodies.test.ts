import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Run, RunReference } from '../../src/wire/index.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { HandClock } from '../support/hand-clock.ts';
import { createKeyIn, TestService } from '../support/local-service.ts';
import { png } from '../support/png.ts';

/** Maximum bytes of bodies that the service holds at once, half of them for one user. */
const MAX_REQUEST_BYTES = 4000;

describe('the bodies of requests, over all connections', () => {
  let service: TestService;
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await service.close();
  });

  /** Sends a part of a body, and resolves once the service has taken it up. */
  async function beginUpload(bytes: number, key = service.key): Promise<Socket> {
    const { hostname, port } = new URL(service.service.url);
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    await once(socket, 'connect');
    const head = ['POST /v1/runs HTTP/1.1', `host: ${hostname}`, `authorization: Bearer ${key}`];
    socket.write([...head, 'content-length: 60000', '', ' '.repeat(bytes)].join('\r\n'));
    return socket;
  }

  /** Returns the status of a creation whose body is this long. */
  async function createRun(bytes: number, key = service.key): Promise<number> {
    const body = {
      promptVersionId: await service.versionOf('hello'),
      inputs: { textInputs: { name: 'Ada' } },
    };
    const answer = await service.post('/runs', JSON.stringify(body).padEnd(bytes), { key });
    if (answer.http === 429) expect(answer.headers.get('retry-after')).toBe('1');
    return answer.http;
  }

  it('are bounded for each user and for all, and free again once they are gone', async () => {
    service = await TestService.start({ maxRequestBytes: MAX_REQUEST_BYTES });
    const other = await createKeyIn(service.dataDir, { user: 'ada' });
    const third = await createKeyIn(service.dataDir, { user: 'bob' });
    const upload = await beginUpload(1800);

    await expect.poll(() => createRun(1000)).toBe(429);
    expect((await service.post('/runs', 'x'.repeat(1000))).message).toContain('MiB of one user');
    expect(await createRun(1000, other)).toBe(200);

    await beginUpload(1800, other);
    await expect.poll(() => createRun(1000, third)).toBe(429);

    upload.destroy();
    await expect.poll(() => createRun(1000)).toBe(200);
    expect(await createRun(1000, third)).toBe(200);
  });

  it('are not counted while a creation waits for its run', async () => {
    const clock = new HandClock();
    service = await TestService.start({ maxRequestBytes: MAX_REQUEST_BYTES, clock });
    const sandbox = await service.versionOf('sandbox');
    const body = JSON.stringify({
      promptVersionId: sandbox,
      inputs: {},
      runOptions: { delaySeconds: '5' },
    });
    const long = service.post<Run>('/runs', body.padEnd(1500));
    await clock.waitForSleep(5000);

    expect(await createRun(1500)).toBe(200);

    clock.advance(5000);
    expect(await long).toMatchObject({ http: 200, data: { runStatus: 'succeeded' } });
  });

  describe('and slowly read answers', () => {
    /** Creates a run whose answer has eight times the bytes of its request, 8 MB. */
    const createLargeRun = async (key = service.key) => {
      const inputs = { textInputs: { text: 'a'.repeat(1e6) } };
      const promptVersionId = await service.versionOf('repeat');
      return await service.post<Run & RunReference>('/runs', { promptVersionId, inputs }, { key });
    };
    /** Sends a request, and reads nothing of the answer. */
    const requestWithoutReading = async (target: string): Promise<void> => {
      const { hostname, port } = new URL(service.service.url);
      const socket = connect(Number(port), hostname).pause();
      sockets.push(socket);
      socket.write(
        `GET /v1${target} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${service.key}\r\n\r\n`,
      );
      await once(socket, 'readable');
    };

    it('are counted, and refused or postponed without room, with nothing made twice', async () => {
      const promptsDir = createTemporaryDirectory();
      writeFileSync(path.join(promptsDir, 'repeat.prompt'), '{{text}}'.repeat(8));
      service = await TestService.start({ maxRequestBytes: 40_000_000, promptsDir });
      const other = await createKeyIn(service.dataDir, { user: 'ada' });
      const { runId } = (await createLargeRun()).data;
      for (const target of [`/runs/${runId}`, '/runs']) await requestWithoutReading(target);

      expect((await service.get('/runs')).http).toBe(429);
      expect((await service.get(`/runs/${runId}`)).http).toBe(429);

      const postponed = await createLargeRun();
      expect(postponed).toMatchObject({ http: 504, status: 'GATEWAY_TIMEOUT_ERROR' });
      expect((await service.get('/me')).http).toBe(200);
      expect((await createLargeRun(other)).http).toBe(200);

      for (const socket of sockets.splice(0)) socket.destroy();
      await expect
        .poll(async () => (await service.get(`/runs/${postponed.data.runId}`)).http)
        .toBe(200);
      expect((await service.data<{ rows: Run[] }>('/runs')).rows).toHaveLength(2);
    });
  });

  describe('with pictures at URLs', () => {
    /** Yields an image of so many bytes, the last byte once `rest` has resolved. */
    const streamImage = async function* (bytes: number, rest: Promise<unknown>) {
      yield Buffer.concat([png(1, 1), Buffer.alloc(bytes - png(1, 1).length - 1)]);
      await rest;
      yield Buffer.alloc(1);
    };

    const startWithImage = (bytes: number, rest: Promise<unknown> = Promise.resolve()) =>
      TestService.start({
        maxRequestBytes: MAX_REQUEST_BYTES,
        openUrl: () =>
          Promise.resolve({
            status: 200,
            headers: {},
            body: streamImage(bytes, rest),
            discard: () => {},
          }),
      });

    async function describePicture(key = service.key) {
      const imageInputs = [{ type: 'url', url: 'https://8.8.8.8/x.png' }];
      const body = {
        promptVersionId: await service.versionOf('describe'),
        inputs: { imageInputs },
      };
      return await service.post<Run>('/runs', body, { key });
    }

    it('count the pictures too, from their first bytes until they are on disk', async () => {
      const rest = new AbortController();
      service = await startWithImage(1200, once(rest.signal, 'abort'));
      const other = await createKeyIn(service.dataDir, { user: 'ada' });
      const first = describePicture();

      await expect.poll(() => createRun(900)).toBe(429);
      expect(await createRun(900, other)).toBe(200);

      rest.abort();
      expect(await first).toMatchObject({ http: 200, data: { runStatus: 'succeeded' } });
      expect(await createRun(1900)).toBe(200);
    });

    it('are refused for good if one picture exceeds the room', async () => {
      service = await startWithImage(2500);
      expect(await describePicture()).toMatchObject({
        http: 413,
        status: 'PAYLOAD_TOO_LARGE_ERROR',
      });
      expect(await service.data('/runs')).toMatchObject({ rows: [] });
      expect(await createRun(1900)).toBe(200);
    });

    it('can be retried later if two pictures at once exceed the room', async () => {
      const rest = new AbortController();
      service = await startWithImage(1200, once(rest.signal, 'abort'));
      const first = describePicture();

      await expect.poll(() => createRun(900)).toBe(429);

      const second = await describePicture();
      expect(second).toMatchObject({ http: 429, status: 'TOO_MANY_REQUESTS_ERROR' });
      expect(second.headers.get('retry-after')).toBe('1');

      rest.abort();
      expect(await first).toMatchObject({ http: 200 });
      expect(await describePicture()).toMatchObject({ http: 200 });
    });
  });
});
