import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { buffer, json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type EmbeddedService, startEmbedded } from '../../src/service/index.ts';
import { openSqlite } from '../../src/service/store/sqlite/binding.ts';
import {
  MAX_BODY_BYTES,
  type PromptSearchResult,
  type Run,
  type RunReference,
} from '../../src/wire/index.ts';
import { HandClock } from '../support/hand-clock.ts';
import { createTemporaryDataDir, TestService } from '../support/local-service.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The wait of the service before it stores the end of a run again. */
const FIRST_RETRY_WAIT_MS = 250;

let clock: HandClock;
let dataDir: string;
let service: EmbeddedService;

beforeEach(async () => {
  clock = new HandClock();
  dataDir = createTemporaryDataDir();
  service = await startEmbedded({ dataDir, clock, env: {} });
});

afterEach(() => service.close());

interface Answered<T> {
  readonly http: number;
  readonly status: string;
  readonly data: T;
}

async function call<T>(
  method: string,
  target: string,
  { body, signal }: { body?: unknown; signal?: AbortSignal } = {},
): Promise<Answered<T>> {
  const answer = await service.request({
    method,
    url: `${service.url}${target}`,
    headers: { authorization: `Bearer ${service.sessionKey}` },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  return { http: answer.status, ...((await json(answer.body)) as Omit<Answered<T>, 'http'>) };
}

async function buildCreation(slug: string, inputs: object, runOptions = {}): Promise<object> {
  const { data } = await call<PromptSearchResult>('GET', `/prompts/publish?q=${slug}`);
  return { promptVersionId: data.rows[0]?.promptVersionId, inputs, runOptions };
}

async function fetchMedia(url: string): Promise<{ http: number; type: unknown; bytes: Buffer }> {
  const { status, headers, body } = await service.request({ method: 'GET', url, headers: {} });
  return { http: status, type: headers['content-type'], bytes: await buffer(body) };
}

test('answers a creation without a socket', async () => {
  const created = await call<Run>('POST', '/runs', {
    body: await buildCreation('hello', { textInputs: { name: 'Ada' } }),
  });
  expect(created).toMatchObject({ http: 200, status: 'SUCCESS', data: { runStatus: 'succeeded' } });
  expect(await call('GET', `/runs/${created.data.runId}`)).toEqual(created);
});

test('stores a free run together with its end, so that a kill leaves nothing unfinished', async () => {
  // A process that may leave runs unfinished has a lock in this folder.
  const locksFolder = path.join(dataDir, 'workers');
  const { data } = await call<Run>('POST', '/runs', {
    body: await buildCreation('hello', { textInputs: { name: 'Ada' } }),
  });

  expect(existsSync(locksFolder)).toBe(false);

  const list = await call<{ rows: object[] }>('GET', '/runs?times=true');
  const now = new Date(clock.now()).toISOString();

  expect(list.data.rows).toMatchObject([{ runId: data.runId, createdAt: now, endedAt: now }]);

  await call<Run>('POST', '/runs', {
    body: await buildCreation('sandbox', {}, { delaySeconds: '0' }),
  });
  expect(existsSync(locksFolder)).toBe(true);
});

describe('refuses, with the same envelope as over HTTP,', () => {
  test.each<{ name: string; method: string; target: string; body?: string; http: number }>([
    { name: 'a body that is not JSON', method: 'POST', target: '/runs', body: '{', http: 400 },
    { name: 'a body without its fields', method: 'POST', target: '/runs', body: '{}', http: 422 },
    {
      name: 'a body that is too large',
      method: 'POST',
      target: '/runs',
      body: ' '.repeat(MAX_BODY_BYTES + 1),
      http: 413,
    },
    { name: 'an unknown path', method: 'GET', target: '/nowhere', http: 404 },
    { name: 'unknown media', method: 'GET', target: '/media/x.png', http: 404 },
    { name: 'an invalid limit', method: 'GET', target: '/runs?limit=0', http: 422 },
    { name: 'a path that is badly encoded', method: 'GET', target: '/prompts/%zz', http: 400 },
  ])('$name', async ({ method, target, body, http }) => {
    const embeddedAnswer = await call(method, target, { body });
    const served = await TestService.forTest({ dataDir, clock });
    const servedAnswer = await fetch(`${served.service.url}${target}`, {
      method,
      headers: { authorization: `Bearer ${served.key}` },
      ...(body !== undefined && { body }),
    });
    expect(embeddedAnswer).toEqual({ http, ...((await servedAnswer.json()) as object) });
  });

  test('a request without its key', async () => {
    const { status } = await service.request({
      method: 'GET',
      url: `${service.url}/me`,
      headers: {},
    });
    expect(status).toBe(401);
  });
});

test('stops a run whose end cannot be stored, and names it', async () => {
  const body = await buildCreation('sandbox', {}, { delaySeconds: '5' });
  const running = service.request({
    method: 'POST',
    url: `${service.url}/runs`,
    headers: { authorization: `Bearer ${service.sessionKey}`, 'idempotency-key': 'mine' },
    body: JSON.stringify(body),
  });

  await clock.waitForSleep(5000);
  const database = await openSqlite(path.join(dataDir, 'promptrun.db'));
  database.exec(
    "create trigger full before update on runs begin select raise(abort, 'database or disk is full'); end",
  );
  clock.advance(5000);
  await clock.waitForSleep(FIRST_RETRY_WAIT_MS);
  const stopResult = await service.inProcessRuns.stop('mine', 'Ctrl-C');

  expect(stopResult).toEqual({ runId: expect.any(String) as string, isStopped: true });

  await running;
  await service.close();
  database.exec('drop trigger full');
  database.close();
  service = await startEmbedded({ dataDir, clock, env: {} });

  expect(await call('GET', `/runs/${stopResult?.runId}`)).toMatchObject({
    data: { runStatus: 'failed' },
  });
});

test('ends the request of a caller that leaves, and the run continues', async () => {
  const caller = new AbortController();
  const body = await buildCreation('sandbox', {}, { delaySeconds: '130' });
  const answer = call<RunReference>('POST', '/runs', { body, signal: caller.signal });
  await clock.waitForSleep(130_000);
  caller.abort(new Error('the caller has left'));

  await expect(answer).rejects.toThrow('the caller has left');

  const { data } = await call<{ rows: Run[] }>('GET', '/runs');
  expect(data.rows).toMatchObject([{ runStatus: 'running' }]);
});

describe('the media of a run', () => {
  const makePicture = async (): Promise<string> => {
    const body = await buildCreation('postcard', { textInputs: { place: 'Oslo' } });
    const { data } = await call<Run>('POST', '/runs', { body });
    return data.outputs[0]?.data ?? '';
  };

  test('is a file that can be read without the service, and that the service returns too', async () => {
    const url = await makePicture();
    expect(url).toMatch(/^file:\/\/\/.*\/media\/[0-9a-f-]+\.png$/);
    const bytes = readFileSync(fileURLToPath(url));
    expect(service.owns(new URL(url))).toBe(true);
    expect(await fetchMedia(url)).toEqual({ http: 200, type: 'image/png', bytes });
  });

  test("can't be any other file", async () => {
    const url = await makePicture();
    for (const other of [
      'file:///etc/passwd',
      url.replace('.png', '.jpg'),
      url.replace(/[^/]+$/, '../promptrun.db'),
    ]) {
      expect([other, (await fetchMedia(other)).http]).toEqual([other, 404]);
    }

    expect(service.owns(new URL('file:///etc/passwd'))).toBe(false);
    expect(service.owns(new URL('https://example.com/media/a.png'))).toBe(false);
  });

  test('expires after a day', async () => {
    const url = await makePicture();
    clock.advance(DAY_MS);
    expect((await fetchMedia(url)).http).toBe(410);
  });

  test('has a signed URL if the same store is served over HTTP', async () => {
    await makePicture();
    const served = await TestService.forTest({ dataDir, clock });
    const { rows } = await served.data<{ rows: Run[] }>('/runs');
    expect(rows[0]?.outputs[0]?.data).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/media\/\S+\?expires=\d+&signature=/,
    );
  });
});
