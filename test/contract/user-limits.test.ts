import { afterEach, expect, test } from 'vitest';
import type { Run, RunPage, RunReference } from '../../src/wire/index.ts';
import { HandClock } from '../support/hand-clock.ts';
import { createKeyIn, TestService } from '../support/local-service.ts';
import { png } from '../support/png.ts';

const DELAY = 130_000;

let clock: HandClock;
let service: TestService;
let sandbox: string;

async function start(options: Parameters<typeof TestService.start>[0]): Promise<void> {
  clock = new HandClock();
  service = await TestService.start({ clock, syncWindowMs: 0, ...options });
  sandbox = await service.versionOf('sandbox');
}

afterEach(() => service.close());

const createSlowRun = (key?: string) =>
  service.post<Run & RunReference>(
    '/runs',
    { promptVersionId: sandbox, inputs: {}, runOptions: { delaySeconds: '130' } },
    { key },
  );

const listStatuses = async (key?: string) =>
  (await service.data<RunPage>('/runs?limit=50', { key })).rows.map(row => row.runStatus);

test("a user's runs beyond the limit of the queue are refused until some have ended", async () => {
  await start({ maxConcurrentRuns: 1, maxQueuedRunsPerUser: 2 });
  for (let run = 0; run < 3; run += 1) expect((await createSlowRun()).http).toBe(504);
  const refused = await createSlowRun();

  expect(refused).toMatchObject({ http: 429, status: 'TOO_MANY_REQUESTS_ERROR' });
  expect(refused.message).toContain('at most 2)');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await listStatuses()).toEqual(['queued', 'queued', 'running']);
  expect(await service.data('/me/credits')).toEqual({ credits: 999_997 });

  const ben = await createKeyIn(service.dataDir, { user: 'ben' });
  expect((await createSlowRun(ben)).http).toBe(504);

  await clock.waitForSleep(DELAY, 2);
  clock.advance(DELAY);

  // The next one starts a moment after this one has ended.
  await expect.poll(() => listStatuses()).toEqual(['queued', 'running', 'succeeded']);
  expect((await createSlowRun()).http).toBe(504);
});

test("one user's queue does not delay another's first run", async () => {
  await start({ maxConcurrentRuns: 2 });
  for (let run = 0; run < 20; run += 1) await createSlowRun();
  const ben = await createKeyIn(service.dataDir, { user: 'ben' });
  await createSlowRun(ben);
  expect(await listStatuses(ben)).toEqual(['running']);
});

test("users take turns, and each one's runs go in order", async () => {
  await start({ maxConcurrentRuns: 2 });
  const ben = await createKeyIn(service.dataDir, { user: 'ben' });
  await createSlowRun(ben);
  for (let run = 0; run < 6; run += 1) await createSlowRun();
  for (let run = 0; run < 2; run += 1) await createSlowRun(ben);

  expect(await listStatuses(ben)).toEqual(['queued', 'queued', 'running']);
  expect(await listStatuses()).toEqual([
    'queued',
    'queued',
    'queued',
    'queued',
    'queued',
    'running',
  ]);

  await clock.waitForSleep(DELAY, 2);
  clock.advance(DELAY);

  await expect.poll(() => listStatuses(ben)).toEqual(['queued', 'running', 'succeeded']);
  await expect
    .poll(() => listStatuses())
    .toEqual(['queued', 'queued', 'queued', 'queued', 'running', 'succeeded']);
});

test('a user whose media takes up the space gets 507 until it expires, and can run text', async () => {
  await start({ maxMediaBytes: 2 ** 14, syncWindowMs: 120_000 });
  const postcard = await service.versionOf('postcard');
  const hello = await service.versionOf('hello');

  const draw = (key?: string) =>
    service.post<Run>(
      '/runs',
      { promptVersionId: postcard, inputs: { textInputs: { place: 'Oslo' } } },
      { key },
    );

  let http = 200;
  for (let run = 0; run < 10 && http === 200; run += 1) ({ http } = await draw());
  const refused = await draw();

  expect(refused).toMatchObject({ http: 507, status: 'INSUFFICIENT_STORAGE_ERROR' });
  expect(refused.message).toContain(`${2 ** -16} GiB`);

  const greeting = await service.post('/runs', {
    promptVersionId: hello,
    inputs: { textInputs: { name: 'A' } },
  });
  expect(greeting.http).toBe(200);
  expect((await draw(await createKeyIn(service.dataDir, { user: 'ben' }))).http).toBe(200);

  clock.advance(25 * 60 * 60 * 1000);
  await expect.poll(async () => (await draw()).http).toBe(200);
});

test('the pictures of unfinished runs count until the runs end', async () => {
  await start({ maxMediaBytes: 200, syncWindowMs: 120_000 });
  const describeImage = await service.versionOf('describe');
  const describeRequest = (bytes: Buffer) => ({
    promptVersionId: describeImage,
    inputs: { imageInputs: [{ type: 'base64', base64: bytes.toString('base64') }] },
  });

  for (let run = 0; run < 5; run += 1) {
    expect((await service.post('/runs', describeRequest(png(3, 2)))).http).toBe(200);
  }

  expect(
    (await service.post('/runs', describeRequest(Buffer.concat([png(3, 2), Buffer.alloc(200)]))))
      .http,
  ).toBe(507);
});

test('the texts of unfinished runs count until the runs end, in the queue too', async () => {
  await start({ maxMediaBytes: 200, maxConcurrentRuns: 1 });

  const note = (length: number, key?: string) =>
    service.post<RunReference>(
      '/runs',
      {
        promptVersionId: sandbox,
        inputs: { textInputs: { note: 'x'.repeat(length) } },
        runOptions: { delaySeconds: '130' },
      },
      { key },
    );

  expect((await note(90)).http).toBe(504);
  expect((await note(90)).http).toBe(504);

  const refused = await note(90);
  expect(refused).toMatchObject({ http: 507, status: 'INSUFFICIENT_STORAGE_ERROR' });
  expect(await service.data('/me/credits')).toEqual({ credits: 999_998 });
  expect((await note(90, await createKeyIn(service.dataDir, { user: 'ben' }))).http).toBe(504);

  await clock.waitForSleep(DELAY, 2);
  clock.advance(DELAY);

  await expect.poll(() => listStatuses()).toContain('succeeded');
  expect((await note(90)).http).toBe(504);
});
