import { afterEach, expect, test } from 'vitest';
import type { Run, RunPage, RunReference } from '../../src/wire/index.ts';
import { HandClock } from '../support/hand-clock.ts';
import { createKeyIn, TestService } from '../support/local-service.ts';
import { png } from '../support/png.ts';

const DELAY_SECONDS = 130;
const DELAY_MS = DELAY_SECONDS * 1000;

/** Media expire after a day, and are deleted within the next hour. */
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;

const SMALL_SPACE_BYTES = 200;

/** More than half of the small space. */
const FITTING_ONCE_BYTES = 150;

const SPACE_REFUSAL = { http: 507, status: 'INSUFFICIENT_STORAGE_ERROR' };

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
    { promptVersionId: sandbox, inputs: {}, runOptions: { delaySeconds: String(DELAY_SECONDS) } },
    { key },
  );

const listStatuses = async (key?: string) =>
  (await service.data<RunPage>('/runs?limit=50', { key })).rows.map(row => row.runStatus);

test("a user's runs beyond the limit of the queue are refused until some have ended", async () => {
  await start({ maxConcurrentRuns: 1, maxQueuedRunsPerUser: 2 });
  for (let run = 0; run < 3; run += 1) expect((await createSlowRun()).http).toBe(504);
  const refusal = await createSlowRun();

  expect(refusal).toMatchObject({ http: 429, status: 'TOO_MANY_REQUESTS_ERROR' });
  expect(refusal.message).toContain('at most 2)');
  expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await listStatuses()).toEqual(['queued', 'queued', 'running']);
  expect(await service.data('/me/credits')).toEqual({ credits: 999_997 });

  const ben = await createKeyIn(service.dataDir, { user: 'ben' });
  expect((await createSlowRun(ben)).http).toBe(504);

  await clock.waitForSleep(DELAY_MS, 2);
  clock.advance(DELAY_MS);

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

  await clock.waitForSleep(DELAY_MS, 2);
  clock.advance(DELAY_MS);

  await expect.poll(() => listStatuses(ben)).toEqual(['queued', 'running', 'succeeded']);
  await expect
    .poll(() => listStatuses())
    .toEqual(['queued', 'queued', 'queued', 'queued', 'running', 'succeeded']);
});

test('a user whose media takes up the space gets 507 until it expires, and can run text', async () => {
  await start({ maxMediaBytes: 2 ** 14, syncWindowMs: 120_000 });
  const postcard = await service.versionOf('postcard');
  const hello = await service.versionOf('hello');

  const drawPostcard = (key?: string) =>
    service.post<Run>(
      '/runs',
      { promptVersionId: postcard, inputs: { textInputs: { place: 'Oslo' } } },
      { key },
    );

  let http = 200;
  for (let run = 0; run < 10 && http === 200; run += 1) ({ http } = await drawPostcard());
  const refusal = await drawPostcard();

  expect(refusal).toMatchObject(SPACE_REFUSAL);
  expect(refusal.message).toContain(`${2 ** -16} GiB`);

  const greeting = await service.post('/runs', {
    promptVersionId: hello,
    inputs: { textInputs: { name: 'A' } },
  });
  expect(greeting.http).toBe(200);
  expect((await drawPostcard(await createKeyIn(service.dataDir, { user: 'ben' }))).http).toBe(200);

  clock.advance(DAY_MS + HOUR_MS);
  await expect.poll(async () => (await drawPostcard()).http).toBe(200);
});

test('the images of unfinished runs count until the runs end', async () => {
  await start({ maxMediaBytes: SMALL_SPACE_BYTES, maxConcurrentRuns: 1 });
  const describeImage = await service.versionOf('describe');
  const createDescribeRun = (byteLength: number) => {
    const image = png(3, 2);
    const bytes = Buffer.concat([image, Buffer.alloc(byteLength - image.length)]);
    return service.post<Run & RunReference>('/runs', {
      promptVersionId: describeImage,
      inputs: { imageInputs: [{ type: 'base64', base64: bytes.toString('base64') }] },
    });
  };

  // It keeps the next ones in the queue.
  await createSlowRun();
  const queued = await createDescribeRun(FITTING_ONCE_BYTES);
  expect(queued.http).toBe(504);
  expect(await createDescribeRun(FITTING_ONCE_BYTES)).toMatchObject(SPACE_REFUSAL);

  await clock.waitForSleep(DELAY_MS);
  clock.advance(DELAY_MS);
  await expect
    .poll(() => service.data(`/runs/${queued.data.runId}`))
    .toMatchObject({ runStatus: 'succeeded' });

  expect((await createDescribeRun(FITTING_ONCE_BYTES)).http).toBe(504);
});

test('an image that is larger than the space is refused, although the user has no other', async () => {
  await start({ maxMediaBytes: SMALL_SPACE_BYTES });
  const bytes = Buffer.concat([png(3, 2), Buffer.alloc(SMALL_SPACE_BYTES)]);
  const refusal = await service.post('/runs', {
    promptVersionId: await service.versionOf('describe'),
    inputs: { imageInputs: [{ type: 'base64', base64: bytes.toString('base64') }] },
  });
  expect(refusal).toMatchObject(SPACE_REFUSAL);
});

test('the texts of unfinished runs count until the runs end, in the queue too', async () => {
  await start({ maxMediaBytes: SMALL_SPACE_BYTES, maxConcurrentRuns: 1 });

  const createRunWithNote = (length: number, key?: string) =>
    service.post<RunReference>(
      '/runs',
      {
        promptVersionId: sandbox,
        inputs: { textInputs: { note: 'x'.repeat(length) } },
        runOptions: { delaySeconds: String(DELAY_SECONDS) },
      },
      { key },
    );

  expect((await createRunWithNote(90)).http).toBe(504);
  expect((await createRunWithNote(90)).http).toBe(504);

  const refusal = await createRunWithNote(90);
  expect(refusal).toMatchObject(SPACE_REFUSAL);
  expect(await service.data('/me/credits')).toEqual({ credits: 999_998 });
  expect(
    (await createRunWithNote(90, await createKeyIn(service.dataDir, { user: 'ben' }))).http,
  ).toBe(504);

  await clock.waitForSleep(DELAY_MS, 2);
  clock.advance(DELAY_MS);

  await expect.poll(() => listStatuses()).toContain('succeeded');
  expect((await createRunWithNote(90)).http).toBe(504);
});
