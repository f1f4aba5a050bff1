import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Run, RunPage, RunReference } from '../../src/wire/index.ts';
import { HandClock } from '../support/hand-clock.ts';
import {
  createKeyIn,
  openStoreIn,
  type ServiceAnswer,
  TestService,
} from '../support/local-service.ts';
import { png } from '../support/png.ts';

/** The time that a creation waits for its run, in milliseconds. */
const SYNC_WINDOW_MS = 120_000;
/** The duration of a slow run, which is longer. */
const DELAY_MS = 130_000;

const DAY_MS = 24 * 60 * 60 * 1000;

let clock: HandClock;
let service: TestService;
let helloVersionId: string;
let sandboxVersionId: string;

beforeEach(async () => {
  clock = new HandClock();
  service = await TestService.start({ clock, syncWindowMs: SYNC_WINDOW_MS });
  helloVersionId = await service.versionOf('hello');
  sandboxVersionId = await service.versionOf('sandbox');
});

afterEach(() => service.close());

const buildHelloRequest = (name = 'Ann') => ({
  promptVersionId: helloVersionId,
  inputs: { textInputs: { name } },
});
const buildSlowRequest = () => ({
  promptVersionId: sandboxVersionId,
  inputs: {},
  runOptions: { delaySeconds: String(DELAY_MS / 1000) },
});

const create = (
  body: unknown,
  idempotencyKey: string,
  key?: string,
): Promise<ServiceAnswer<Run & RunReference>> =>
  service.post('/runs', body, { key, headers: { 'idempotency-key': idempotencyKey } });

const countRuns = async () => (await service.data<RunPage>('/runs?limit=50')).rows.length;

test('the header idempotency says that keys are kept, in every authenticated answer and in no other', async () => {
  for (const path of ['/me', '/runs', '/runs/nothing', '/runs?limit=99', '/nowhere']) {
    expect((await service.get(path)).headers.get('idempotency'), path).toBe('supported');
  }
  expect((await service.post('/runs', 'not JSON')).headers.get('idempotency')).toBe('supported');
  for (const key of ['', 'wrong']) {
    expect((await service.get('/me', { key })).headers.get('idempotency'), key).toBeNull();
  }
});

describe('a second creation with the same key and the same body', () => {
  test('returns the same run with the same answer, and costs nothing more', async () => {
    const first = await create(buildHelloRequest(), 'a');
    const credits = await service.data('/me/credits');
    const again = await create(buildHelloRequest(), 'a');
    expect(again).toMatchObject({ http: 200, data: first.data });
    expect(await countRuns()).toBe(1);
    expect(await service.data('/me/credits')).toEqual(credits);
  });

  test('returns a failed run again, and makes no other', async () => {
    const body = {
      promptVersionId: sandboxVersionId,
      inputs: {},
      runOptions: { outcome: 'failed' },
    };
    const first = await create(body, 'a');
    expect((await create(body, 'a')).data).toEqual(first.data);
    expect(first.data.runStatus).toBe('failed');
  });

  test('is answered 504 with the id while the run continues, and as ended afterwards', async () => {
    const first = create(buildSlowRequest(), 'a');
    await clock.waitForSleep(DELAY_MS);
    const during = await create(buildSlowRequest(), 'a');

    expect(during).toMatchObject({ http: 504, status: 'GATEWAY_TIMEOUT_ERROR' });

    clock.advance(SYNC_WINDOW_MS);
    expect((await first).data.runId).toBe(during.data.runId);

    clock.advance(10_000);
    await expect.poll(async () => (await create(buildSlowRequest(), 'a')).http).toBe(200);
    expect((await create(buildSlowRequest(), 'a')).data).toMatchObject({
      runId: during.data.runId,
      runStatus: 'succeeded',
    });
  });

  test('makes no other run if many arrive at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => create(buildHelloRequest(), 'a')),
    );
    expect(new Set(answers.map(answer => answer.data.runId)).size).toBe(1);
    expect(answers.every(({ http }) => http === 200 || http === 504)).toBe(true);
    expect(await countRuns()).toBe(1);
    expect(await service.data('/me/credits')).toEqual({ credits: 999_999 });
  });

  test('makes no other run of an image if many arrive at once', async () => {
    const image = { type: 'base64', base64: png(3, 2).toString('base64') };
    const body = {
      promptVersionId: await service.versionOf('describe'),
      inputs: { imageInputs: [image] },
    };
    const answers = await Promise.all(Array.from({ length: 4 }, () => create(body, 'a')));
    expect(new Set(answers.map(answer => answer.data.runId)).size).toBe(1);
  });

  test('counts as the same whatever the order of its fields', async () => {
    const first = await create(buildHelloRequest(), 'a');
    const { promptVersionId, inputs } = buildHelloRequest();
    expect((await create({ inputs, promptVersionId }, 'a')).data).toEqual(first.data);
  });

  test('finds the run after its prompt was withdrawn, and after a restart', async () => {
    const first = await create(buildHelloRequest(), 'a');
    expect((await service.call('DELETE', '/prompts/hello')).http).toBe(200);
    expect((await create(buildHelloRequest(), 'a')).data).toEqual(first.data);

    await service.close();
    service = await TestService.start({ clock, dataDir: service.dataDir });
    const key = await createKeyIn(service.dataDir, { user: 'local' });

    expect((await create(buildHelloRequest(), 'a', key)).data).toEqual(first.data);
  });

  test('makes a new run once 24 hours are over', async () => {
    const first = await create(buildHelloRequest(), 'a');
    clock.advance(DAY_MS - 1);
    expect((await create(buildHelloRequest(), 'a')).data.runId).toBe(first.data.runId);
    clock.advance(2);
    const later = await create(buildHelloRequest(), 'a');
    expect(later.http).toBe(200);
    expect(later.data.runId).not.toBe(first.data.runId);
  });
});

describe('an idempotency key', () => {
  test('with another body is refused, and makes nothing', async () => {
    await create(buildHelloRequest('Ann'), 'a');
    const other = await create(buildHelloRequest('Ben'), 'a');
    expect(other).toMatchObject({ http: 422, status: 'VALIDATION_ERROR' });
    expect(other.message).toMatch(/idempotency-key/);
    expect(await countRuns()).toBe(1);
  });

  test('of one user has no effect for another', async () => {
    const ben = await createKeyIn(service.dataDir, { user: 'ben' });
    const ours = await create(buildHelloRequest(), 'a');
    const his = await create(buildHelloRequest(), 'a', ben);
    expect(his.http).toBe(200);
    expect(his.data.runId).not.toBe(ours.data.runId);
  });

  test('of a creation that was refused is free again', async () => {
    const poor = await createKeyIn(service.dataDir, { user: 'poor', credits: 0 });
    expect((await create(buildHelloRequest(), 'a', poor)).http).toBe(402);

    const store = await openStoreIn(service.dataDir);
    await store.changeUser('poor', { credits: { by: 5 } });
    await store.close();

    expect((await create(buildHelloRequest(), 'a', poor)).http).toBe(200);
    expect((await create({ ...buildHelloRequest(), inputs: {} }, 'b')).http).toBe(422);
    expect((await create(buildHelloRequest(), 'b')).http).toBe(200);
  });

  test('has 1 to 255 characters', async () => {
    expect((await create(buildHelloRequest(), 'x'.repeat(255))).http).toBe(200);
    expect((await create(buildHelloRequest(), 'x'.repeat(256))).http).toBe(422);
    expect((await create(buildHelloRequest(), '')).http).toBe(422);
  });

  test('is not needed: without one every creation is a new run', async () => {
    await service.post('/runs', buildHelloRequest());
    await service.post('/runs', buildHelloRequest());
    expect(await countRuns()).toBe(2);
  });
});
