import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Run, RunReference } from '../../src/wire/index.ts';
import { HandClock } from '../support/hand-clock.ts';
import {
  createKeyIn,
  createTemporaryDataDir,
  type ServiceAnswer,
  TestService,
} from '../support/local-service.ts';
import { png } from '../support/png.ts';

/** Maximum bytes of bodies that the service holds at once, half of them for one user. */
const MAX_REQUEST_BYTES = 4000;
const MAX_USER_BYTES = MAX_REQUEST_BYTES / 2;

/** The bytes of an upload beside which its user has no room for another body. */
const UPLOAD_BYTES = 1800;

/** The bytes of a body that fits in the room of a user if the user sends nothing else. */
const BODY_BYTES = 1000;

/** The bytes of a body that fits only if nothing else of its user is counted. */
const LARGEST_BODY_BYTES = 1900;

let service: TestService;
const sockets: Socket[] = [];

function closeConnections(): void {
  for (const socket of sockets.splice(0)) socket.destroy();
}

async function stopService(): Promise<void> {
  closeConnections();
  await service.close();
}

/** Opens a connection that is closed together with the service. */
function openConnection(): Socket {
  const { hostname, port } = new URL(service.service.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  return socket;
}

/** Sends the first bytes of a body whose rest never comes. */
async function beginUpload(bytes: number, key = service.key): Promise<void> {
  const socket = openConnection();
  await once(socket, 'connect');
  const head = ['POST /v1/runs HTTP/1.1', 'host: 127.0.0.1', `authorization: Bearer ${key}`];
  socket.write([...head, 'content-length: 60000', '', ' '.repeat(bytes)].join('\r\n'));
}

/** Creates a run with a body of this length. */
async function createRun(bytes: number, key = service.key): Promise<ServiceAnswer<Run>> {
  const body = {
    promptVersionId: await service.versionOf('hello'),
    inputs: { textInputs: { name: 'Ada' } },
  };
  return await service.post<Run>('/runs', JSON.stringify(body).padEnd(bytes), { key });
}

describe('the bodies of requests, over all connections', () => {
  afterEach(stopService);

  describe('while one of a user is uploaded', () => {
    beforeEach(async () => {
      service = await TestService.start({ maxRequestBytes: MAX_REQUEST_BYTES });
      await beginUpload(UPLOAD_BYTES);
      await expect.poll(() => createRun(BODY_BYTES)).toMatchObject({ http: 429 });
    });

    it('are refused if the same user has no room, with the time after which to retry', async () => {
      const refused = await createRun(BODY_BYTES);
      expect(refused.http).toBe(429);
      expect(refused.message).toContain('MiB of one user');
      expect(refused.headers.get('retry-after')).toBe('1');
    });

    it('are accepted from another user', async () => {
      const otherKey = await createKeyIn(service.dataDir, { user: 'ada' });
      expect(await createRun(BODY_BYTES, otherKey)).toMatchObject({ http: 200 });
    });

    it('are refused from anybody once there is no room in all', async () => {
      const adasKey = await createKeyIn(service.dataDir, { user: 'ada' });
      const bobsKey = await createKeyIn(service.dataDir, { user: 'bob' });
      expect(await createRun(BODY_BYTES, bobsKey)).toMatchObject({ http: 200 });

      await beginUpload(UPLOAD_BYTES, adasKey);

      await expect.poll(() => createRun(BODY_BYTES, bobsKey)).toMatchObject({ http: 429 });
    });

    it('are accepted again once its connection is lost', async () => {
      closeConnections();
      await expect.poll(() => createRun(LARGEST_BODY_BYTES)).toMatchObject({ http: 200 });
    });
  });

  it('are not counted while a creation waits for its run', async () => {
    const clock = new HandClock();
    service = await TestService.start({ maxRequestBytes: MAX_REQUEST_BYTES, clock });
    const body = JSON.stringify({
      promptVersionId: await service.versionOf('sandbox'),
      inputs: {},
      runOptions: { delaySeconds: '5' },
    });
    const waitingCreation = service.post<Run>('/runs', body.padEnd(LARGEST_BODY_BYTES));
    await clock.waitForSleep(5000);

    expect(await createRun(LARGEST_BODY_BYTES)).toMatchObject({ http: 200 });

    clock.advance(5000);
    expect(await waitingCreation).toMatchObject({ http: 200, data: { runStatus: 'succeeded' } });
  });
});

describe('while a user does not read two large answers', () => {
  /** The room of one user: two answers of 8 MB, and not a third. */
  const MAX_BYTES_FOR_TWO_ANSWERS = 40_000_000;
  let runId: string;

  beforeAll(async () => {
    const promptsDir = createTemporaryDataDir();
    mkdirSync(promptsDir);
    writeFileSync(path.join(promptsDir, 'repeat.prompt'), '{{text}}'.repeat(8));
    service = await TestService.start({ maxRequestBytes: MAX_BYTES_FOR_TWO_ANSWERS, promptsDir });
    runId = (await createLargeRun()).data.runId;
    await requestWithoutReading(`/runs/${runId}`);
    await requestWithoutReading('/runs');
  });

  afterAll(stopService);

  /** Creates a run whose answer has eight times the bytes of its request, 8 MB. */
  async function createLargeRun(key = service.key): Promise<ServiceAnswer<Run & RunReference>> {
    const inputs = { textInputs: { text: 'a'.repeat(1_000_000) } };
    const promptVersionId = await service.versionOf('repeat');
    return await service.post<Run & RunReference>('/runs', { promptVersionId, inputs }, { key });
  }

  /** Sends a request, and reads nothing of the answer. */
  async function requestWithoutReading(target: string): Promise<void> {
    const socket = openConnection().pause();
    const head = [`GET /v1${target} HTTP/1.1`, 'host: 127.0.0.1'];
    socket.write([...head, `authorization: Bearer ${service.key}`, '', ''].join('\r\n'));
    await once(socket, 'readable');
  }

  it('a third one is refused', async () => {
    expect((await service.get('/runs')).http).toBe(429);
    expect((await service.get(`/runs/${runId}`)).http).toBe(429);
  });

  it('small answers are sent', async () => {
    expect((await service.get('/me')).http).toBe(200);
  });

  it('large answers of other users are sent', async () => {
    const otherKey = await createKeyIn(service.dataDir, { user: 'ada' });
    expect((await createLargeRun(otherKey)).http).toBe(200);
  });

  it('a creation gets 504, and its run can be read once there is room', async () => {
    const postponed = await createLargeRun();
    expect(postponed).toMatchObject({ http: 504, status: 'GATEWAY_TIMEOUT_ERROR' });

    closeConnections();

    await expect
      .poll(async () => (await service.get(`/runs/${postponed.data.runId}`)).http)
      .toBe(200);
    const { rows } = await service.data<{ rows: Run[] }>('/runs');
    expect(rows.map(row => row.runId)).toEqual([postponed.data.runId, runId]);
  });
});

describe('the pictures that a request names by their URLs', () => {
  afterEach(stopService);

  /** The bytes of a picture of which the room of a user holds one, and not two. */
  const IMAGE_BYTES = 1200;
  const TOO_LARGE_IMAGE_BYTES = MAX_USER_BYTES + 500;

  /** Yields an image of so many bytes, the last byte once `lastByteSent` has resolved. */
  async function* streamImage(bytes: number, lastByteSent: Promise<unknown>) {
    const image = png(1, 1);
    yield Buffer.concat([image, Buffer.alloc(bytes - image.length - 1)]);
    await lastByteSent;
    yield Buffer.alloc(1);
  }

  /** Starts a service that gets such a picture from every URL. */
  const startWithImage = (bytes: number, lastByteSent: Promise<unknown> = Promise.resolve()) =>
    TestService.start({
      maxRequestBytes: MAX_REQUEST_BYTES,
      openUrl: () =>
        Promise.resolve({
          status: 200,
          headers: {},
          body: streamImage(bytes, lastByteSent),
          discard: () => {},
        }),
    });

  async function describePicture(): Promise<ServiceAnswer<Run>> {
    const imageInputs = [{ type: 'url', url: 'https://8.8.8.8/x.png' }];
    const promptVersionId = await service.versionOf('describe');
    return await service.post<Run>('/runs', { promptVersionId, inputs: { imageInputs } });
  }

  it('are refused for good if one of them exceeds the room of a user', async () => {
    service = await startWithImage(TOO_LARGE_IMAGE_BYTES);
    expect(await describePicture()).toMatchObject({
      http: 413,
      status: 'PAYLOAD_TOO_LARGE_ERROR',
    });
    expect(await service.data('/runs')).toMatchObject({ rows: [] });
    expect(await createRun(LARGEST_BODY_BYTES)).toMatchObject({ http: 200 });
  });

  describe('while one of them arrives', () => {
    let picture: AbortController;
    let description: Promise<ServiceAnswer<Run>>;

    beforeEach(async () => {
      picture = new AbortController();
      service = await startWithImage(IMAGE_BYTES, once(picture.signal, 'abort'));
      description = describePicture();
      await expect.poll(() => createRun(BODY_BYTES)).toMatchObject({ http: 429 });
    });

    /** Lets the last byte of the picture arrive. */
    function completePicture(): void {
      picture.abort();
    }

    it('take room from other bodies of their user only', async () => {
      const otherKey = await createKeyIn(service.dataDir, { user: 'ada' });
      expect(await createRun(BODY_BYTES, otherKey)).toMatchObject({ http: 200 });

      completePicture();
      expect(await description).toMatchObject({ http: 200 });
    });

    it('take no room any more once they are on disk', async () => {
      completePicture();
      expect(await description).toMatchObject({ http: 200, data: { runStatus: 'succeeded' } });
      expect(await createRun(LARGEST_BODY_BYTES)).toMatchObject({ http: 200 });
    });

    it('are refused for now if two at once exceed the room of a user', async () => {
      const refused = await describePicture();
      expect(refused).toMatchObject({ http: 429, status: 'TOO_MANY_REQUESTS_ERROR' });
      expect(refused.headers.get('retry-after')).toBe('1');

      completePicture();
      expect(await description).toMatchObject({ http: 200 });
      expect(await describePicture()).toMatchObject({ http: 200 });
    });
  });
});
