import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Run, RunPage, RunReference } from '../../src/wire/index.ts';
import { HandClock } from '../support/hand-clock.ts';
import { createKeyIn, openStoreIn, TestService } from '../support/local-service.ts';
import { png } from '../support/png.ts';

// Endpoints that only this service has: cancelling runs, reading their requests, publishing by
// authors.

const DELAY = 130_000;

let clock: HandClock;
let service: TestService;
let ben: string;

beforeAll(async () => {
  clock = new HandClock();
  service = await TestService.start({ clock, syncWindowMs: 0, maxConcurrentRuns: 1 });
  ben = await createKeyIn(service.dataDir, { user: 'ben' });
});

afterAll(() => service.close());

async function start(delaySeconds: string, headers: Record<string, string> = {}): Promise<string> {
  const body = {
    promptVersionId: await service.versionOf('sandbox'),
    inputs: {},
    runOptions: { delaySeconds },
  };
  return (await service.post<RunReference>('/runs', body, { headers })).data.runId;
}

describe('POST /runs/:runId/cancel', () => {
  test('ends a run that is running, and one that is queued; neither costs anything', async () => {
    const before = await service.data('/me/credits');
    const [running, queued] = [await start('130'), await start('130')];
    await clock.waitForSleep(DELAY);

    for (const runId of [queued, running]) {
      const cancelled = await service.post<Run>(`/runs/${runId}/cancel`, undefined);
      const outputs = [{ type: 'error', data: 'cancelled' }];
      expect(cancelled.data).toEqual({ runId, runStatus: 'failed', outputs, tokens: 0 });
      expect(await service.data(`/runs/${runId}`)).toEqual(cancelled.data);
    }

    expect(await service.data('/me/credits')).toEqual(before);

    // Its place is free again.
    const next = await start('5');
    await clock.waitForSleep(5000);
    clock.advance(5000);

    await expect
      .poll(() => service.data(`/runs/${next}`))
      .toMatchObject({ runStatus: 'succeeded' });
  });

  test('answers the creation that waits for the run', async () => {
    const patient = await TestService.forTest({ dataDir: service.dataDir, clock });
    const body = {
      promptVersionId: await patient.versionOf('sandbox'),
      inputs: {},
      runOptions: { delaySeconds: '130' },
    };
    const creation = patient.post<Run>('/runs', body, { key: ben });
    const getRunningPage = () => patient.data<RunPage>('/runs?status=running', { key: ben });

    await expect.poll(async () => (await getRunningPage()).rows.length).toBe(1);

    const [row] = (await getRunningPage()).rows;
    await patient.post(`/runs/${row?.runId}/cancel`, undefined, { key: ben });

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
    expect((await service.post(`/runs/${data.runId}/cancel`, undefined, { key: ben })).http).toBe(
      404,
    );
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
      expect((await service.get(`/runs/${data.runId}/request`, { key: ben })).http).toBe(404);
    }
  });

  test('returns a large text too, even after a restart', async () => {
    const large = await TestService.forTest();
    const name = 'é'.repeat(300_000);
    const body = {
      promptVersionId: await large.versionOf('hello'),
      inputs: { textInputs: { name } },
    };
    const { data } = await large.post<Run>('/runs', body);

    expect(data.outputs[0]?.data).toContain(name);

    await large.close();
    const next = await TestService.forTest({ dataDir: large.dataDir });

    expect(await next.data(`/runs/${data.runId}/request`, { key: large.key })).toEqual(body);
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
    const lonely = await TestService.forTest({ env: { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' } });
    await lonely.publish('remote', '---\nmodel: openai/gpt-6-luna\n---\nHello\n');
    const body = { promptVersionId: await lonely.versionOf('remote'), inputs: {} };
    const { data } = await lonely.post<Run>('/runs', body);

    expect(data.runStatus).toBe('failed');
    expect(data.outputs[0]?.data).not.toContain('OPENAI_BASE_URL');
    expect(lonely.notices.join('\n')).toContain('OPENAI_BASE_URL');
    expect((await lonely.get(`/runs/${data.runId}/request`)).http).toBe(404);
  });

  test('refuses a run whose model lacks a key, and makes none', async () => {
    await service.publish('keyless', '---\nmodel: openai/gpt-6-luna\n---\nHello\n');
    const body = { promptVersionId: await service.versionOf('keyless'), inputs: {} };
    const refused = await service.post('/runs', body);
    expect(refused).toMatchObject({ http: 403, status: 'FORBIDDEN_ERROR' });
    // Only the operator can set it, and reads of it in the log.
    expect(refused.message).not.toContain('OPENAI_API_KEY');
    expect(service.notices.join('\n')).toContain('set OPENAI_API_KEY');
  });

  test('is gone with a run that was cancelled in the queue', async () => {
    const [running, queued] = [await start('130'), await start('130')];
    await clock.waitForSleep(DELAY);
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
    clock.advance(25 * 60 * 60 * 1000);
    await expect
      .poll(async () => (await service.get(`/runs/${data.runId}/request`)).http)
      .toBe(410);
  });
});

describe('GET /runs', () => {
  test('finds the run of an idempotency key, with the key in its row', async () => {
    const runId = await start('0', { 'idempotency-key': 'k-1' });
    const { rows, hasMore } = await service.data<RunPage>('/runs?idempotencyKey=k-1');

    expect(rows).toMatchObject([{ runId, idempotencyKey: 'k-1' }]);
    expect(hasMore).toBe(false);
    expect((await service.data<RunPage>('/runs?idempotencyKey=k-2')).rows).toEqual([]);
    expect((await service.data<RunPage>('/runs?idempotencyKey=k-1', { key: ben })).rows).toEqual(
      [],
    );
    expect((await service.data<RunPage>('/runs')).rows[0]).not.toHaveProperty('idempotencyKey');
  });

  test('takes times in milliseconds as well as in seconds', async () => {
    const runId = await start('0');
    const [row] = (await service.data<RunPage>('/runs?limit=1')).rows;
    const ms = Date.parse(row?.createdAt ?? '');
    const listIds = async (query: string) =>
      (await service.data<RunPage>(`/runs?${query}`)).rows.map(row => row.runId);

    expect(await listIds(`since=${ms}`)).toContain(runId);
    expect(await listIds(`since=${Math.floor(ms / 1000)}`)).toContain(runId);
    expect(await listIds(`until=${ms}`)).not.toContain(runId);
    expect((await service.get(`/runs?since=${ms}&until=${Math.floor(ms / 1000)}`)).http).toBe(422);
  });
});

describe('headers', () => {
  test('say how fast a client may go, and that its resources are out of date', async () => {
    const { hash } = await service.data<{ hash: string }>('/resources');
    const getHeaders = async (agent: string) =>
      (await service.get('/me', { headers: { 'cli-agent': agent } })).headers;
    expect((await getHeaders(hash)).get('ratelimit-policy')).toBe('"default";q=1000;w=1');
    expect((await getHeaders(hash)).get('action-require')).toBeNull();
    expect((await getHeaders(`resources_hash=${hash}`)).get('action-require')).toBeNull();
    expect((await getHeaders('older')).get('action-require')).toBe('update-resources');
  });

  test('say it on 429 too', async () => {
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
  let ada: string;

  beforeEach(async () => {
    const store = await openStoreIn(service.dataDir);
    ada = (
      await store.createKey({ user: `ada-${Math.random().toString(36).slice(2)}`, isAuthor: true })
    ).key;
    await store.close();
  });

  const put = (slug: string, body: unknown, key = ada) =>
    service.call<{ promptVersionId: string; faults?: unknown }>('PUT', `/prompts/${slug}`, {
      body,
      key,
    });

  test('is for keys of authors, that of the first start among them', async () => {
    const refused = await put('essay', { file: 'Hello' }, ben);
    expect(refused).toMatchObject({ http: 403, status: 'FORBIDDEN_ERROR' });
    // Only the operator can create keys.
    expect(refused.message).not.toContain('keys create');
    expect((await service.call('DELETE', '/prompts/hello', { key: ben })).http).toBe(403);
    expect((await put('essay', { file: 'Hello' }, service.key)).http).toBe(200);
  });

  test('publishes a file with its partials, which everybody can run, and withdraws it', async () => {
    const { http, data } = await put('haiku', { file: FILE, partials: { tone: 'Softly.' } });
    expect(http).toBe(200);
    expect(data).toMatchObject({ slug: 'haiku', changed: true });

    const run = await service.post<Run>(
      '/runs',
      { promptVersionId: data.promptVersionId, inputs: { textInputs: { topic: 'rain' } } },
      { key: ben },
    );

    // It may have been answered before its end.
    await expect
      .poll(() => service.data(`/runs/${run.data.runId}`, { key: ben }))
      .toMatchObject({ outputs: [{ type: 'text', data: 'Softly. On rain.' }] });
    expect((await service.call('DELETE', '/prompts/haiku', { key: ada })).http).toBe(200);
    expect((await service.call('DELETE', '/prompts/haiku', { key: ada })).http).toBe(404);
  });

  test('reports the faults of a file with their places, and reads no file beside it', async () => {
    const wrong = await put('wrong', { file: '---\nmodel: nobodys\n---\nHello\n' });
    expect(wrong.http).toBe(422);
    expect(wrong.data.faults).toContainEqual({
      line: 2,
      column: expect.any(Number) as number,
      message: expect.stringContaining('nobodys') as string,
    });

    const partial = await put('wrong', { file: FILE, partials: { tone: 'a\n{{#if}}' } });
    expect(partial.data.faults).toMatchObject([{ partial: 'tone', line: 2 }]);
    expect((await put('wrong', { file: FILE })).http).toBe(422);
    expect((await put('not a slug', { file: 'x' })).http).toBe(422);
    expect(wrong.message).not.toContain('models.yaml');
    expect((await put('wrong', {})).http).toBe(422);
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
      expect(await put(slug, { file: 'Changed' }), slug).toMatchObject({
        http: 422,
        status: 'VALIDATION_ERROR',
      });
      expect((await service.call('DELETE', `/prompts/${slug}`, { key: ada })).http, slug).toBe(422);
    }

    expect(await service.find('hello')).toEqual(before);
    expect((await put('a'.repeat(64), { file: 'Hello' })).http).toBe(200);
  });
});

test('--hide-templates shows them to the user local alone', async () => {
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
