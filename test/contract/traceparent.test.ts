import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ServedRequest } from '../../src/service/http/server.ts';
import type { Run } from '../../src/wire/index.ts';
import { createTemporaryDataDir, TestService } from '../support/local-service.ts';
import { FakeProvider } from '../support/providers/fake-provider.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`;

/** A traceparent whose trace has the id that stands for none. */
const ALL_ZEROS = `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`;

/** A traceparent of the same trace with the same flags; its span may be another. */
const SAME_TRACE = new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-01$`);

let provider: FakeProvider;
let service: TestService;
const servedRequests: ServedRequest[] = [];

beforeAll(async () => {
  provider = await FakeProvider.start();
  const dataDir = createTemporaryDataDir();
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const printTraceparent = 'process.stdout.write(process.env.TRACEPARENT ?? "none")';
  const models = [
    { model: 'bot', modality: 'text', program: [process.execPath, '-e', printTraceparent] },
    { model: 'address', modality: 'text', address: provider.baseUrl },
  ];
  writeFileSync(path.join(dataDir, 'models.yaml'), JSON.stringify({ models }));
  const env = {
    PATH: process.env['PATH'],
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: provider.baseUrl,
  };

  const onRequest = (request: ServedRequest): void => void servedRequests.push(request);
  service = await TestService.start({
    dataDir,
    env,
    onRequest,
    allowPrograms: true,
    allowPrivate: true,
  });

  for (const { slug, model } of [
    { slug: 'asks-provider', model: 'openai/gpt-4.1' },
    { slug: 'starts-program', model: 'bot' },
    { slug: 'calls-address', model: 'address' },
  ]) {
    await service.publish(slug, `---\nmodel: ${model}\n---\nHello\n`);
  }
});

afterAll(async () => {
  await service.close();
  await provider.close();
});

beforeEach(() => {
  provider.reset({ body: {} });
  servedRequests.length = 0;
});

async function createRun(slug: string, traceparent: string): Promise<Run> {
  const body = { promptVersionId: await service.versionOf(slug), inputs: {} };
  return (await service.post<Run>('/runs', body, { headers: { traceparent } })).data;
}

describe('the traceparent of a request', () => {
  test.each([
    { receiver: 'a provider', slug: 'asks-provider' },
    { receiver: 'the address of a model', slug: 'calls-address' },
  ])('is passed on to $receiver', async ({ slug }) => {
    await createRun(slug, TRACEPARENT);
    expect(provider.requests.map(({ headers }) => headers['traceparent'])).toEqual([
      expect.stringMatching(SAME_TRACE),
    ]);
  });

  test('is in the environment of the program that answers', async () => {
    expect((await createRun('starts-program', TRACEPARENT)).outputs[0]?.data).toMatch(SAME_TRACE);
  });

  test('is reported with the request that was served', async () => {
    await service.get('/me', { headers: { traceparent: TRACEPARENT } });
    const reported = servedRequests.map(({ path, traceparent }) => ({ path, traceparent }));
    expect(reported).toEqual([{ path: '/v1/me', traceparent: TRACEPARENT }]);
  });

  test.each(['x y', `${TRACEPARENT}-more`, ALL_ZEROS])(
    'is neither reported nor passed on if it is malformed: %s',
    async malformed => {
      const run = await createRun('starts-program', malformed);
      expect(run.outputs[0]?.data).toBe('none');

      const paths = servedRequests.map(({ path }) => path);
      expect(paths).toContain('/v1/runs');
      expect(servedRequests.filter(({ traceparent }) => traceparent !== undefined)).toEqual([]);
    },
  );

  test('is not part of the request that the service returns for a run', async () => {
    const { runId } = await createRun('starts-program', TRACEPARENT);
    const { data } = await service.get<object>(`/runs/${runId}/request`);
    expect(data).toMatchObject({ inputs: {} });
    expect(JSON.stringify(data)).not.toContain(TRACE_ID);
  });
});
