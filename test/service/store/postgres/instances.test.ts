import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startService } from '../../../../src/service/index.ts';
import type { Run, RunPage } from '../../../../src/wire/index.ts';
import { createTemporaryDirectory } from '../../../support/context.ts';
import {
  findPostgresPrograms,
  type PostgresCluster,
  startPostgres,
} from '../../../support/databases/postgres.ts';
import {
  buildSlowRun,
  createAt,
  createAuthorKey,
  createUserKeys,
  TAKEN_OVER_MS,
} from '../../../support/databases/runs-on-database.ts';
import { makeDatabase } from '../../../support/databases/test-database.ts';
import { createTemporaryDataDir, TestService } from '../../../support/local-service.ts';
import { png } from '../../../support/png.ts';
import { serveInProcess } from '../../../support/serving-process.ts';

describe.skipIf(findPostgresPrograms() === undefined)('several instances on one database', () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await startPostgres();
  });
  afterAll(() => cluster?.remove());

  const start = (database: string, options: Parameters<typeof TestService.forTest>[0] = {}) =>
    TestService.forTest({ dataDir: createTemporaryDataDir(), databaseUrl: database, ...options });

  test('start at once on a fresh one: one makes it and prints the key, all know the key', async () => {
    const database = await makeDatabase(cluster.url, 'fresh');
    const services = await Promise.all([start(database), start(database), start(database)]);
    const keys = services.flatMap(({ service }) => service.newKey ?? []);
    expect(keys).toHaveLength(1);

    const accounts = services.map(service => service.get('/me', { key: keys[0] }));
    expect((await Promise.all(accounts)).map(({ http }) => http)).toEqual([200, 200, 200]);
  });

  describe('with the same prompts, users and runs', () => {
    test('make one run of two creations with the same idempotency key', async () => {
      const database = await makeDatabase(cluster.url, 'idempotency');
      const serviceA = await start(database);
      const serviceB = await start(database);
      const body = await buildPostcardRun(serviceA);
      const options = { key: serviceA.key, headers: { 'idempotency-key': 'k' } };
      const [runA, runB] = await Promise.all([
        serviceA.post<Run>('/runs', body, options),
        serviceB.post<Run>('/runs', body, options),
      ]);
      expect(runB.data.runId).toBe(runA.data.runId);
      expect(await serviceB.data('/me/credits', options)).toEqual({ credits: 1_000_000 - 4 });
    });

    test('show a run of any of them, each with its own address of the same picture', async () => {
      const database = await makeDatabase(cluster.url, 'shared');
      const serviceA = await start(database);
      const serviceB = await start(database);
      const { key } = serviceA;
      const { runId } = (
        await serviceA.post<Run>('/runs', await buildPostcardRun(serviceA), { key })
      ).data;
      const urlFromA = await getImageUrl(serviceA, runId, key);
      const urlFromB = await getImageUrl(serviceB, runId, key);
      expect(urlFromB.origin).toBe(new URL(serviceB.service.url).origin);
      expect(urlFromB.pathname).toBe(urlFromA.pathname);

      const picture = await fetch(urlFromB);
      expect(picture.status).toBe(200);
      expect(picture.headers.get('content-type')).toBe('image/png');
      expect((await picture.arrayBuffer()).byteLength).toBe(
        Number(picture.headers.get('content-length')),
      );
    });
  });

  describe('creations of several users at once', () => {
    const HELLO = { inputs: { textInputs: { name: 'Ada' } } };

    test('are charged to their own users, and refused one by one', async () => {
      const database = await makeDatabase(cluster.url, 'together');
      const service = await start(database);
      const body = { promptVersionId: await service.versionOf('hello'), ...HELLO };
      const keys = await createUserKeys(database, { rich: 100, scant: 3, poor: 0 });
      const createEightRuns = async (key: string): Promise<number[]> => {
        const answers = Array.from({ length: 8 }, () => service.post<Run>('/runs', body, { key }));
        return (await Promise.all(answers)).map(({ http }) => http).sort();
      };
      const readAccount = async (key: string) => ({
        ...(await service.data<{ credits: number }>('/me/credits', { key })),
        runCount: (await service.data<RunPage>('/runs', { key })).rows.length,
      });

      const [ofRich, ofScant, ofPoor] = await Promise.all([
        createEightRuns(keys.rich),
        createEightRuns(keys.scant),
        createEightRuns(keys.poor),
      ]);
      expect(ofRich).toEqual(Array(8).fill(200));
      expect(ofScant).toEqual([200, 200, 200, 402, 402, 402, 402, 402]);
      expect(ofPoor).toEqual(Array(8).fill(402));
      expect(await readAccount(keys.rich)).toEqual({ credits: 92, runCount: 8 });
      expect(await readAccount(keys.scant)).toEqual({ credits: 0, runCount: 3 });
    });

    test('do not wait for a user who is locked in the database', async () => {
      const database = await makeDatabase(cluster.url, 'locked');
      const service = await start(database);
      const body = { promptVersionId: await service.versionOf('hello'), ...HELLO };
      const { ada, bob } = await createUserKeys(database, { ada: 10, bob: 10 });
      const client = new pg.Client(database);
      await client.connect();
      onTestFinished(() => client.end());
      await client.query(`begin; select from users where name = 'bob' for update`);

      const runOfBob = service.post<Run>('/runs', body, { key: bob });
      expect((await service.post<Run>('/runs', body, { key: ada })).http).toBe(200);
      expect((await service.post<Run>('/runs', body, { key: ada })).http).toBe(200);
      expect((await service.data<RunPage>('/runs', { key: bob })).rows).toEqual([]);

      await client.query('commit');
      expect((await runOfBob).http).toBe(200);
    });
  });

  test('carry out a queued run where there is room, and its caller gets the outcome at once', async () => {
    const database = await makeDatabase(cluster.url, 'queue');
    const busy = await start(database, { maxConcurrentRuns: 1 });
    const { key } = busy;
    const sandbox = await busy.versionOf('sandbox');
    const longRun = await keepBusy(busy, key);
    await start(database, { maxConcurrentRuns: 4 });
    const queued = await busy.post<Run>('/runs', buildSlowRun(sandbox, '0'), { key });

    expect(queued.data.runStatus).toBe('succeeded');
    expect(await countRuns(busy, key, 'running')).toBe(1);

    await longRun.cancel();
  });

  describe('with a media directory that they share', () => {
    test('show pictures that the database kept before', async () => {
      const database = await makeDatabase(cluster.url, 'before');
      const withoutDirectory = await start(database);
      const { key } = withoutDirectory;
      const body = await buildPostcardRun(withoutDirectory);
      const { runId } = (await withoutDirectory.post<Run>('/runs', body, { key })).data;
      await withoutDirectory.close();

      const service = await start(database, { mediaDir: createTemporaryDirectory() });
      expect(await fetchContentType(await getImageUrl(service, runId, key))).toBe('image/png');
    });

    test('show pictures that another of them has put there', async () => {
      const database = await makeDatabase(cluster.url, 'directory');
      const mediaDir = createTemporaryDirectory();
      const serviceA = await start(database, { mediaDir });
      const serviceB = await start(database, { mediaDir });
      const { key } = serviceA;
      const body = await buildPostcardRun(serviceB);
      const { runId } = (await serviceB.post<Run>('/runs', body, { key })).data;
      expect(readdirSync(path.join(mediaDir, 'media'))).toHaveLength(1);
      expect(await fetchContentType(await getImageUrl(serviceA, runId, key))).toBe('image/png');
    });

    test('carry out a run whose input picture another of them has put there', async () => {
      const database = await makeDatabase(cluster.url, 'inputs');
      const mediaDir = createTemporaryDirectory();
      const busy = await start(database, { mediaDir, maxConcurrentRuns: 1 });
      const { key } = busy;
      const longRun = await keepBusy(busy, key);
      const images = [{ type: 'base64', base64: png(3, 2).toString('base64') }];
      const queued = busy.post<Run>(
        '/runs',
        { promptVersionId: await busy.versionOf('describe'), inputs: { imageInputs: images } },
        { key },
      );
      await expect.poll(() => readdirSync(path.join(mediaDir, 'inputs'))).toHaveLength(1);

      await start(database, { mediaDir, maxConcurrentRuns: 4 });
      expect((await queued).data.outputs[0]?.data).toContain('PNG image, 3 × 2 pixels');

      await longRun.cancel();
    });

    test('start only with that directory', async () => {
      const database = await makeDatabase(cluster.url, 'other_directory');
      await start(database, { mediaDir: createTemporaryDirectory() });

      await expect(start(database)).rejects.toThrow('give it to this one too, with --media-dir');
      await expect(start(database, { mediaDir: createTemporaryDirectory() })).rejects.toThrow(
        'is not the one',
      );
    });

    test('do not start if others may write to it', async () => {
      const database = await makeDatabase(cluster.url, 'open_directory');
      const mediaDir = createTemporaryDirectory();
      chmodSync(mediaDir, 0o777);

      await expect(start(database, { mediaDir })).rejects.toThrow(`chmod o-w ${mediaDir}`);
    });
  });

  describe('with a limit of one request in 100 seconds', () => {
    const RATE_LIMIT = 0.01;

    test('count the requests of a key together', async () => {
      const database = await makeDatabase(cluster.url, 'rates');
      const serviceA = await start(database, { rateLimit: RATE_LIMIT });
      const serviceB = await start(database, { rateLimit: RATE_LIMIT });
      const { key } = serviceA;
      expect((await serviceA.get('/me', { key })).http).toBe(200);

      const refused = await serviceB.get('/me', { key });
      expect(refused.http).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60);
    });

    test('grant one request each time, however many arrive at once', async () => {
      const database = await makeDatabase(cluster.url, 'granted');
      const services = [
        await start(database, { rateLimit: RATE_LIMIT }),
        await start(database, { rateLimit: RATE_LIMIT }),
      ] as const;
      const [{ key }] = services;
      const countGranted = async (): Promise<number> => {
        const requests = services.flatMap(service =>
          Array.from({ length: 10 }, () => service.get('/me', { key })),
        );
        return (await Promise.all(requests)).filter(({ http }) => http === 200).length;
      };
      expect(await countGranted()).toBe(1);

      await letRequestsWait(database, '100 s');
      expect(await countGranted()).toBe(1);
    });
  });

  test('carry out the runs of one that is killed, each once, and paid for once', async () => {
    const database = await makeDatabase(cluster.url, 'killed');
    const dataDir = createTemporaryDataDir();
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const program = [process.execPath, '-e', 'setInterval(() => {}, 1000)'];
    const models = [{ model: 'bot', modality: 'text', program }];
    writeFileSync(path.join(dataDir, 'models.yaml'), JSON.stringify({ models }));
    const flags = ['--database', database, '--sync-window', '0s', '--allow-programs'];
    const doomed = await serveInProcess(dataDir, ...flags);
    const heir = await start(database);
    const key = await createAuthorKey(database);
    const published = await fetch(`${doomed.url}/prompts/bot`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ file: '---\nmodel: bot\n---\nHello\n' }),
    });
    const { data: bot } = (await published.json()) as { data: { promptVersionId: string } };
    const sandbox = await heir.versionOf('sandbox');
    const botRunId = await createAt(doomed, key, {
      promptVersionId: bot.promptVersionId,
      inputs: {},
    });
    const runId = await createAt(doomed, key, buildSlowRun(sandbox, '5'));
    await doomed.kill();

    await expect
      .poll(async () => (await heir.data<Run>(`/runs/${runId}`, { key })).runStatus, {
        timeout: TAKEN_OVER_MS,
        interval: 250,
      })
      .toBe('succeeded');

    // No program is started twice, and the heir doesn't even have it.
    const botRun = await heir.data<Run>(`/runs/${botRunId}`, { key });
    expect(botRun.runStatus).toBe('failed');
    expect(botRun.outputs[0]?.data).toContain('stopped by the end of its service');
    expect(await heir.data('/me/credits', { key })).toEqual({ credits: 999_999 });
  });

  test.each([
    ['postgres://ann:sekret@127.0.0.1:1/team', 'DATABASE_UNAVAILABLE', '127.0.0.1:1/team'],
    ['mysql://ann:sekret@127.0.0.1/team', 'INVALID_DATABASE_URL', 'is not a PostgreSQL URL'],
  ])(
    "can't start with %s, and the error does not show the password",
    async (database, code, message) => {
      const started = startService({
        dataDir: createTemporaryDataDir(),
        env: {},
        databaseUrl: database,
      });
      await expect(started).rejects.toMatchObject({ code });
      await expect(started).rejects.toThrow(message);
      await expect(started).rejects.not.toThrow('sekret');
    },
  );
});

/** Returns the body that creates a run with one picture as its output. */
async function buildPostcardRun(service: TestService): Promise<object> {
  return {
    promptVersionId: await service.versionOf('postcard'),
    inputs: { textInputs: { place: 'Oslo' } },
  };
}

/** Returns the address at which a service offers the picture of a run. */
async function getImageUrl(service: TestService, runId: string, key: string): Promise<URL> {
  const run = await service.data<Run>(`/runs/${runId}`, { key });
  return new URL(run.outputs[0]?.data ?? '');
}

async function fetchContentType(url: URL): Promise<string | null> {
  return (await fetch(url)).headers.get('content-type');
}

/** Makes the database believe that so much time has passed since the last requests of its keys. */
async function letRequestsWait(database: string, interval: string): Promise<void> {
  const client = new pg.Client(database);
  await client.connect();
  await client.query(`update "requestRates" set "nextAt" = "nextAt" - interval '${interval}'`);
  await client.end();
}

/** Has a service carry out a run that lasts until it is cancelled. */
async function keepBusy(
  service: TestService,
  key: string,
): Promise<{ cancel: () => Promise<void> }> {
  const created = service.post<Run>(
    '/runs',
    buildSlowRun(await service.versionOf('sandbox'), '130'),
    {
      key,
    },
  );
  await expect.poll(() => countRuns(service, key, 'running')).toBe(1);
  const [run] = (await service.data<RunPage>('/runs?status=running', { key })).rows;

  return {
    async cancel() {
      await service.post(`/runs/${run?.runId}/cancel`, undefined, { key });
      expect((await created).data).toMatchObject({
        runStatus: 'failed',
        outputs: [{ data: 'cancelled' }],
      });
    },
  };
}

async function countRuns(service: TestService, key: string, status: string): Promise<number> {
  return (await service.data<RunPage>(`/runs?status=${status}`, { key })).rows.length;
}
