import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Run, RunPage, RunReference } from '../../src/wire/index.ts';
import { HandClock } from '../support/hand-clock.ts';
import { createKeyIn, openStoreIn, TestService } from '../support/local-service.ts';
import { png } from '../support/png.ts';

// Endpoints that only this service has: cancelling runs, reading their requests, publishing by
// authors.

/** The duration of a run that is not to end by itself. */
const DELAY_SECONDS = 130;
const DELAY_MS = DELAY_SECONDS * 1000;

const HOUR_MS = 60 * 60 * 1000;

let clock: HandClock;
let service: TestService;
let bensKey: string;

beforeAll(async () => {
  clock = new HandClock();
  service = await TestService.start({ clock, syncWindowMs: 0, maxConcurrentRuns: 1 });
  bensKey = await createKeyIn(service.dataDir, { user: 'ben' });
});

afterAll(() => service.close());

/** Starts a run that takes some seconds, and returns its id. */
async function startRun(
  delaySeconds: number,
  headers: Record<string, string> = {},
): Promise<string> {
  const body = {
    promptVersionId: await service.versionOf('sandbox'),
    inputs: {},
    runOptions: { delaySeconds: String(delaySeconds) },
  };
  return (await service.post<RunReference>('/runs', body, { headers })).data.runId;
}

describe('POST /runs/:runId/cancel', () => {
  test('ends a run that is running, and one that is queued; neither costs anything', async () => {
    const before = await service.data('/me/credits');
    const [running, queued] = [await startRun(DELAY_SECONDS), await startRun(DELAY_SECONDS)];
    await clock.waitForSleep(DELAY_MS);

    for (const runId of [queued, running]) {
      const cancelled = await service.post<Run>(`/runs/${runId}/cancel`, undefined);
      const outputs = [{ type: 'error', data: 'cancelled' }];
      expect(cancelled.data).toEqual({ runId, runStatus: 'failed', outputs, tokens: 0 });
      expect(await service.data(`/runs/${runId}`)).toEqual(cancelled.data);
    }

    expect(await service.data('/me/credits')).toEqual(before);

    // The place of the cancelled run is free again.
    const nextRunId = await startRun(5);
    await clock.waitForSleep(5000);
    clock.advance(5000);

    await expect
      .poll(() => service.data(`/runs/${nextRunId}`))
      .toMatchObject({ runStatus: 'succeeded' });
  });

  test('answers the creation that waits for the run', async () => {
    const waiting = await TestService.forTest({ dataDir: service.dataDir, clock });
    const body = {
      promptVersionId: await waiting.versionOf('sandbox'),
      inputs: {},
      runOptions: { delaySeconds: String(DELAY_SECONDS) },
    };
    const creation = waiting.post<Run>('/runs', body, { key: bensKey });
    const getRunningPage = () => waiting.data<RunPage>('/runs?status=running', { key: bensKey });

    await expect.poll(async () => (await getRunningPage()).rows.length).toBe(1);

    const [row] = (await getRunningPage()).rows;
    await waiting.post(`/runs/${row?.runId}/cancel`, undefined, { key: bensKey });

    expect(await creation).toMatchObject({
      http: 200,
      data: { runId: row?.runId, runStatus: 'failed' },
    });
  });

  test("leaves an ended run as it is; another user's is not there", async () => {
    const promptVersionId = await service.versionOf('hello');
    const { data } = await service.post<Run>('/runs', {
      promptVersionId,
      inputs: { textInputs: { name: 'Ada' } },
    });

    await expect
      .poll(() => service.data(`/runs/${data.runId}`))
      .toMatchObject({ runStatus: 'succeeded' });

    const ended = await service.data(`/runs/${data.runId}`);
    expect((await service.post(`/runs/${data.runId}/cancel`, undefined)).data).toEqual(ended);
    expect(
      (await service.post(`/runs/${data.runId}/cancel`, undefined, { key: bensKey })).http,
    ).toBe(404);
    expect((await service.post('/runs/none/cancel', undefined)).http).toBe(404);
  });
});

describe('GET /runs/:runId/request', () => {
  test("returns the body that created a run, only to the run's owner", async () => {
    const bodies = [
      {
        promptVersionId: await service.versionOf('hello'),
        inputs: { textInputs: { name: 'Ada' } },
      },
      {
        promptVersionId: await service.versionOf('describe'),
        inputs: { imageInputs: [{ type: 'base64', base64: png(2, 2).toString('base64') }] },
      },
      {
        promptVersionId: await service.versionOf('sandbox'),
        inputs: {},
        runOptions: { outcome: 'failed' },
      },
    ];
    for (const body of bodies) {
      const { data } = await service.post<Run>('/runs', body);
      expect(await service.data(`/runs/${data.runId}/request`)).toEqual(body);
      expect((await service.get(`/runs/${data.runId}/request`, { key: bensKey })).http).toBe(404);
    }
  });

  test('returns a large text too, even after a restart', async () => {
    const first = await TestService.forTest();
    const name = 'é'.repeat(300_000);
    const body = {
      promptVersionId: await first.versionOf('hello'),
      inputs: { textInputs: { name } },
    };
    const { data } = await first.post<Run>('/runs', body);

    expect(data.outputs[0]?.data).toContain(name);

    await first.close();
    const restarted = await TestService.forTest({ dataDir: first.dataDir });

    expect(await restarted.data(`/runs/${data.runId}/request`, { key: first.key })).toEqual(body);
  });

  test('is gone with a run that failed before a model was asked', async () => {
    await service.publish(
      'endless',
      `---\nmodel: echo\ninput:\n  schema: { l(array): integer }\n---\n${'{{#each @root.l}}'.repeat(8)}x${'{{/each}}'.repeat(8)}`,
    );
    const textInputs = { l: JSON.stringify([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) };
    const body = { promptVersionId: await service.versionOf('endless'), inputs: { textInputs } };
    const { data } = await service.post<Run>('/runs', body);

    await expect
      .poll(() => service.data(`/runs/${data.runId}`))
      .toMatchObject({ runStatus: 'failed' });
    expect(await service.get(`/runs/${data.runId}/request`)).toMatchObject({
      http: 404,
      status: 'NOT_FOUND_ERROR',
    });
  });

  test('is gone with a run whose provider was not reached', async () => {
    const offline = await TestService.forTest({
      env: { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' },
    });
    await offline.publish('remote', '---\nmodel: openai/gpt-6-luna\n---\nHello\n');
    const body = { promptVersionId: await offline.versionOf('remote'), inputs: {} };
    const { data } = await offline.post<Run>('/runs', body);

    expect(data.runStatus).toBe('failed');
    expect(data.outputs[0]?.data).not.toContain('OPENAI_BASE_URL');
    expect(offline.notices.join('\n')).toContain('OPENAI_BASE_URL');
    expect((await offline.get(`/runs/${data.runId}/request`)).http).toBe(404);
  });

  test('is gone with a run that was cancelled in the queue', async () => {
    const [running, queued] = [await startRun(DELAY_SECONDS), await startRun(DELAY_SECONDS)];
    await clock.waitForSleep(DELAY_MS);
    for (const runId of [queued, running]) await service.post(`/runs/${runId}/cancel`, undefined);
    expect((await service.get(`/runs/${queued}/request`)).http).toBe(404);
    expect((await service.get(`/runs/${running}/request`)).http).toBe(200);
  });

  test('says that pictures are gone after a day', async () => {
    const { data } = await service.post<Run>('/runs', {
      promptVersionId: await service.versionOf('describe'),
      inputs: { imageInputs: [{ type: 'base64', base64: png(3, 3).toString('base64') }] },
    });
    await expect
      .poll(() => service.data(`/runs/${data.runId}`))
      .toMatchObject({ runStatus: 'succeeded' });
    clock.advance(25 * HOUR_MS);
    await expect
      .poll(async () => (await service.get(`/runs/${data.runId}/request`)).http)
      .toBe(410);
  });
});

describe('GET /runs with what only this service knows', () => {
  test('finds the run of an idempotency key, with the key in its row', async () => {
    const runId = await startRun(0, { 'idempotency-key': 'k-1' });
    const { rows, hasMore } = await service.data<RunPage>('/runs?idempotencyKey=k-1');

    expect(rows).toMatchObject([{ runId, idempotencyKey: 'k-1' }]);
    expect(hasMore).toBe(false);
    expect((await service.data<RunPage>('/runs?idempotencyKey=k-2')).rows).toEqual([]);
    expect(
      (await service.data<RunPage>('/runs?idempotencyKey=k-1', { key: bensKey })).rows,
    ).toEqual([]);
    expect((await service.data<RunPage>('/runs')).rows[0]).not.toHaveProperty('idempotencyKey');
  });

  test('takes times in milliseconds as well as in seconds', async () => {
    const runId = await startRun(0);
    const [row] = (await service.data<RunPage>('/runs?limit=1')).rows;
    const createdAtMs = Date.parse(row?.createdAt ?? '');
    const listIds = async (query: string) =>
      (await service.data<RunPage>(`/runs?${query}`)).rows.map(row => row.runId);

    expect(await listIds(`since=${createdAtMs}`)).toContain(runId);
    expect(await listIds(`since=${Math.floor(createdAtMs / 1000)}`)).toContain(runId);
    expect(await listIds(`until=${createdAtMs}`)).not.toContain(runId);
    expect(
      (await service.get(`/runs?since=${createdAtMs}&until=${Math.floor(createdAtMs / 1000)}`))
        .http,
    ).toBe(422);
  });
});

test('POST /runs makes no run of a model that lacks a key, and leaves the name of its variable to the log', async () => {
  await service.publish('keyless', '---\nmodel: openai/gpt-6-luna\n---\nHello\n');
  const body = { promptVersionId: await service.versionOf('keyless'), inputs: {} };
  const before = await service.data('/runs');
  const refusal = await service.post('/runs', body);
  expect(refusal).toMatchObject({ http: 403, status: 'FORBIDDEN_ERROR' });
  // Only the operator can set the variable, and reads of it in the log.
  expect(refusal.message).not.toContain('OPENAI_API_KEY');
  expect(await service.data('/runs')).toEqual(before);
  expect(service.notices.join('\n')).toContain('set OPENAI_API_KEY');
});

describe('the headers of an answer', () => {
  test('say how fast a client may go, and whether its resources are out of date', async () => {
    const { hash } = await service.data<{ hash: string }>('/resources');
    const getHeaders = async (agent: string) =>
      (await service.get('/me', { headers: { 'cli-agent': agent } })).headers;
    expect((await getHeaders(hash)).get('ratelimit-policy')).toBe('"default";q=1000;w=1');
    expect((await getHeaders(hash)).get('action-require')).toBeNull();
    expect((await getHeaders(`resources_hash=${hash}`)).get('action-require')).toBeNull();
    expect((await getHeaders('older')).get('action-require')).toBe('update-resources');
  });

  test('say how fast a client may go also on 429', async () => {
    const limited = await TestService.forTest({ rateLimit: 1 });
    const answers = [await limited.get('/me'), await limited.get('/me')];
    expect(answers.map(({ http }) => http)).toEqual([200, 429]);
    for (const { headers } of answers) {
      expect(headers.get('ratelimit-policy')).toBe('"default";q=1;w=1');
    }
  });
});

describe('publishing over HTTP', () => {
  const FILE = '---\ninput:\n  schema:\n    topic: string\n---\n{{> tone}} On {{topic}}.';
  let adasKey: string;

  beforeEach(async () => {
    const store = await openStoreIn(service.dataDir);
    adasKey = (
      await store.createKey({ user: `ada-${Math.random().toString(36).slice(2)}`, isAuthor: true })
    ).key;
    await store.close();
  });

  const putPrompt = (slug: string, body: unknown, key = adasKey) =>
    service.call<{ promptVersionId: string; faults?: unknown }>('PUT', `/prompts/${slug}`, {
      body,
      key,
    });

  test('is for keys of authors, that of the first start among them', async () => {
    const refusal = await putPrompt('essay', { file: 'Hello' }, bensKey);
    expect(refusal).toMatchObject({ http: 403, status: 'FORBIDDEN_ERROR' });
    // Only the operator can create keys.
    expect(refusal.message).not.toContain('keys create');
    expect((await service.call('DELETE', '/prompts/hello', { key: bensKey })).http).toBe(403);
    expect((await putPrompt('essay', { file: 'Hello' }, service.key)).http).toBe(200);
  });

  test('publishes a file with its partials, which everybody can run, and withdraws it', async () => {
    const { http, data } = await putPrompt('haiku', { file: FILE, partials: { tone: 'Softly.' } });
    expect(http).toBe(200);
    expect(data).toMatchObject({ slug: 'haiku', changed: true });

    const run = await service.post<Run>(
      '/runs',
      { promptVersionId: data.promptVersionId, inputs: { textInputs: { topic: 'rain' } } },
      { key: bensKey },
    );

    // It may have been answered before its end.
    await expect
      .poll(() => service.data(`/runs/${run.data.runId}`, { key: bensKey }))
      .toMatchObject({ outputs: [{ type: 'text', data: 'Softly. On rain.' }] });
    expect((await service.call('DELETE', '/prompts/haiku', { key: adasKey })).http).toBe(200);
    expect((await service.call('DELETE', '/prompts/haiku', { key: adasKey })).http).toBe(404);
  });

  test('reports the faults of a file with their places, and reads no file beside it', async () => {
    const faulty = await putPrompt('wrong', { file: '---\nmodel: nobodys\n---\nHello\n' });
    expect(faulty.http).toBe(422);
    expect(faulty.data.faults).toContainEqual({
      line: 2,
      column: expect.any(Number) as number,
      message: expect.stringContaining('nobodys') as string,
    });

    const withFaultyPartial = await putPrompt('wrong', {
      file: FILE,
      partials: { tone: 'a\n{{#if}}' },
    });
    expect(withFaultyPartial.data.faults).toMatchObject([{ partial: 'tone', line: 2 }]);
    expect((await putPrompt('wrong', { file: FILE })).http).toBe(422);
    expect((await putPrompt('not a slug', { file: 'x' })).http).toBe(422);
    expect(faulty.message).not.toContain('models.yaml');
    expect((await putPrompt('wrong', {})).http).toBe(422);
  });

  test('takes a slug as it arrived, and changes no other prompt', async () => {
    const before = await service.find('hello');

    for (const slug of [
      'other-team%2fhello',
      '%2fhello',
      'x%5chello',
      'hello.prompt',
      'h%2e',
      'Hello',
      '-hello',
      'hello-',
      'h_o',
      'a'.repeat(65),
      'caf%C3%A9',
      '%252fhello',
    ]) {
      expect(await putPrompt(slug, { file: 'Changed' }), slug).toMatchObject({
        http: 422,
        status: 'VALIDATION_ERROR',
      });
      expect((await service.call('DELETE', `/prompts/${slug}`, { key: adasKey })).http, slug).toBe(
        422,
      );
    }

    expect(await service.find('hello')).toEqual(before);
    expect((await putPrompt('a'.repeat(64), { file: 'Hello' })).http).toBe(200);
  });
});

test('--hide-templates shows templates to the user local alone', async () => {
  const hiding = await TestService.forTest({ hideTemplates: true });
  const other = await createKeyIn(hiding.dataDir, { user: 'ben' });
  const { promptId, promptVersionId } = await hiding.find('hello');
  for (const target of [
    `/prompts/${promptId}`,
    `/prompt-versions/${promptVersionId}`,
    `/prompts/${promptId}/versions`,
    '/prompts/publish?q=hello',
    '/prompts',
  ]) {
    expect(JSON.stringify(await hiding.data(target))).toContain('"template":"');
    expect(JSON.stringify(await hiding.data(target, { key: other }))).not.toContain('template');
  }
});
