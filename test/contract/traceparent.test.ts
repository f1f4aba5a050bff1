import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ServedRequest } from '../../src/service/http/server.ts';
import type { Run } from '../../src/wire/index.ts';
import { createTemporaryDataDir, TestService } from '../support/local-service.ts';
import { FakeProvider } from '../support/providers/fake-provider.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`;

/** The trace and its flags stay; the span may be another. */
const SAME_TRACE = new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`);

let provider: FakeProvider;
let service: TestService;
const events: ServedRequest[] = [];

beforeAll(async () => {
  provider = await FakeProvider.start();
  const dataDir = createTemporaryDataDir();
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const print = 'process.stdout.write(process.env.TRACEPARENT ?? "none")';
  const models = [
    { model: 'bot', modality: 'text', program: [process.execPath, '-e', print] },
    { model: 'address', modality: 'text', address: provider.baseUrl },
  ];
  writeFileSync(path.join(dataDir, 'models.yaml'), JSON.stringify({ models }));
  const env = {
    PATH: process.env['PATH'],
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: provider.baseUrl,
  };

  const onRequest = (event: ServedRequest): void => void events.push(event);
  service = await TestService.start({
    dataDir,
    env,
    onRequest,
    allowPrograms: true,
    allowPrivate: true,
  });

  for (const [slug, model] of [
    ['asked', 'openai/gpt-4.1'],
    ['program', 'bot'],
    ['called', 'address'],
  ] as const) {
    await service.publish(slug, `---\nmodel: ${model}\n---\nHello\n`);
  }
});

afterAll(async () => {
  await service.close();
  await provider.close();
});

beforeEach(() => provider.reset({ body: {} }));

const create = async (slug: string, traceparent: string) =>
  (
    await service.post<Run>(
      '/runs',
      { promptVersionId: await service.versionOf(slug), inputs: {} },
      { headers: { traceparent } },
    )
  ).data;

test.each(['asked', 'called'])('a traceparent is passed on: %s', async slug => {
  await create(slug, TRACEPARENT);
  expect(provider.requests.map(({ headers }) => headers['traceparent'])).toEqual([
    expect.stringMatching(SAME_TRACE),
  ]);
});

test('programs have it in their environment', async () => {
  expect((await create('program', TRACEPARENT)).outputs[0]?.data).toMatch(SAME_TRACE);
});

test('it is in the event of its request, for the log, and one that is malformed goes nowhere', async () => {
  events.length = 0;
  await service.get('/me', { headers: { traceparent: TRACEPARENT } });
  await service.get('/me', { headers: { traceparent: 'x y' } });
  await service.get('/me', { headers: { traceparent: `${TRACEPARENT}-more` } });

  expect(
    (await create('program', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`)).outputs[0]?.data,
  ).toBe('none');

  const traces = events.map(({ path, traceparent }) => [path, traceparent]);
  expect(traces).toContainEqual(['/v1/me', TRACEPARENT]);
  expect(traces.filter(([, traceparent]) => traceparent !== undefined)).toHaveLength(1);
});

test('a run does not show it', async () => {
  const { runId } = await create('program', TRACEPARENT);
  const { data } = await service.get<object>(`/runs/${runId}/request`);
  expect(JSON.stringify(data)).not.toContain(TRACE);
});
