import { readdirSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { serviceClock } from '../../../../src/service/core/clock.ts';
import { openPostgresStore } from '../../../../src/service/store/postgres/open-postgres-store.ts';
import type { Run, RunPage } from '../../../../src/wire/index.ts';
import {
  findPostgresPrograms,
  type PostgresCluster,
  startPostgres,
} from '../../../support/databases/postgres.ts';
import {
  buildSlowRun,
  createAt,
  createAuthorKey,
  TAKEN_OVER_MS,
} from '../../../support/databases/runs-on-database.ts';
import { makeDatabase } from '../../../support/databases/test-database.ts';
import { HandClock } from '../../../support/hand-clock.ts';
import { createTemporaryDataDir, TestService } from '../../../support/local-service.ts';
import { serveInProcess } from '../../../support/serving-process.ts';

describe.skipIf(findPostgresPrograms() === undefined)('while the database restarts', () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await startPostgres();
  });
  afterAll(() => cluster?.remove());

  const start = (database: string) =>
    TestService.forTest({ dataDir: createTemporaryDataDir(), databaseUrl: database });

  const hello = (promptVersionId: string) => ({
    promptVersionId,
    inputs: { textInputs: { name: 'Ann' } },
  });

  test('requests get 503 while the database is unavailable, and everything resumes once it is back', async () => {
    const database = await makeDatabase(cluster.url, 'away');
    const service = await start(database);
    const { key } = service;
    const sandbox = await service.versionOf('sandbox');
    const going = service.post<Run>('/runs', buildSlowRun(sandbox, '1'), { key });

    await expect
      .poll(async () => (await service.data<RunPage>('/runs', { key })).rows.length)
      .toBe(1);

    cluster.stop();
    const root = new URL('/', service.service.url).href;

    expect(await service.get('/runs', { key })).toMatchObject({
      http: 503,
      status: 'SERVICE_UNAVAILABLE_ERROR',
      data: null,
    });

    expect((await fetch(`${root}healthz`)).status).toBe(200);

    const ready = await fetch(`${root}readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({
      status: 'SERVICE_UNAVAILABLE_ERROR',
      message: 'the store does not answer',
      data: null,
    });

    cluster.start();
    expect((await going).data.runStatus).toBe('succeeded');
    expect((await fetch(`${root}readyz`)).status).toBe(200);

    const after = await service.post<Run>('/runs', hello(await service.versionOf('hello')), {
      key,
    });
    expect(after.data.runStatus).toBe('succeeded');
    expect(await service.data('/me/credits', { key })).toEqual({ credits: 999_998 });
  });

  test('no instance counts as dead right after a restart, since each may need a moment to reach the database', async () => {
    const database = await makeDatabase(cluster.url, 'back');
    const store = await openPostgresStore(database, {
      dataDir: createTemporaryDataDir(),
      clock: serviceClock,
    });
    onTestFinished(() => store.close());
    const judge = await store.workers.register();
    const values = (id: string, until: string): string =>
      `('${id}', now() - interval '1 h', ${until})`;
    await runQuery(
      database,
      `delete from workers; insert into workers (id, "aliveSince", "expiresAt")
        values ${values(judge, `now() + interval '1 h'`)}, ${values('slow', `now() - interval '1 s'`)}`,
    );

    cluster.stop();
    cluster.start();

    await expect.poll(() => store.workers.isAlive('slow')).toBe(true);
  });

  test('a run whose answer waits too long for the database fails, once, and says that it may have been paid for', async () => {
    const database = await makeDatabase(cluster.url, 'late');
    const clock = new HandClock(Date.now());
    const service = await TestService.forTest({
      dataDir: createTemporaryDataDir(),
      databaseUrl: database,
      clock,
    });
    const { key } = service;
    const going = service.post<Run>(
      '/runs',
      buildSlowRun(await service.versionOf('sandbox'), '1'),
      {
        key,
      },
    );

    await expect
      .poll(async () => (await service.data<RunPage>('/runs', { key })).rows.length)
      .toBe(1);

    const runId = (await service.data<RunPage>('/runs', { key })).rows[0]?.runId;
    cluster.stop();
    const noticesOfLoss = () =>
      service.notices.filter(line => line.includes(`the result of run ${runId} is lost`));

    await expect
      .poll(
        () => {
          clock.advance(20_000);
          return noticesOfLoss().length;
        },
        { timeout: TAKEN_OVER_MS },
      )
      .toBe(1);

    cluster.start();

    const ended = async (): Promise<Run> => {
      clock.advance(20_000);
      const { data } = await service.get<Run>(`/runs/${runId}`, { key });
      return data;
    };

    await expect.poll(ended, { timeout: TAKEN_OVER_MS, interval: 250 }).toMatchObject({
      runStatus: 'failed',
      outputs: [{ data: expect.stringContaining('paid for') as string }],
    });

    await going;
    expect(await service.data('/me/credits', { key })).toEqual({ credits: 1_000_000 });
    expect(noticesOfLoss()).toHaveLength(1);
  });

  test('a run whose answer is lost when its service stops fails, and no model is asked again', async () => {
    const database = await makeDatabase(cluster.url, 'stopped');
    const dataDir = createTemporaryDataDir();
    const service = await TestService.forTest({
      dataDir,
      databaseUrl: database,
      graceMs: 0,
      syncWindowMs: 0,
    });
    const { key } = service;
    const body = buildSlowRun(await service.versionOf('sandbox'), '1');
    const { data } = await service.post<{ runId: string }>('/runs', body, { key });
    cluster.stop();
    const reported = (words: string) =>
      expect.poll(() => service.notices.join('\n')).toContain(words);
    await reported('an answer waits in memory');
    await service.close();
    await reported(`the result of run ${data.runId} is lost, which may have been paid for`);
    cluster.start();
    const next = await TestService.forTest({ dataDir, databaseUrl: database });
    const run = () => next.data<Run>(`/runs/${data.runId}`, { key });

    await expect.poll(run, { timeout: TAKEN_OVER_MS, interval: 250 }).toMatchObject({
      runStatus: 'failed',
      outputs: [{ data: expect.stringMatching(/before the service stopped.*paid for/) as string }],
    });
    await expect.poll(() => readdirSync(path.join(dataDir, 'unstored-runs'))).toEqual([]);
  });

  test('every acknowledged run ends once, with exact credits, even if an instance dies and the database restarts', async () => {
    const database = await makeDatabase(cluster.url, 'chaos');
    const witness = await start(database);
    const key = await createAuthorKey(database);
    const sandbox = await witness.versionOf('sandbox');
    const serving = () =>
      serveInProcess(createTemporaryDataDir(), '--database', database, '--sync-window', '0s');

    const instances = [await serving(), await serving(), await serving()];
    const acknowledged: string[] = [];
    for (let index = 0; index < 120; index += 1) {
      if (index === 40) await instances[0]?.kill();

      if (index === 80) {
        cluster.stop();
        cluster.start();
      }

      const instance = instances[index % 3];
      const runId =
        instance &&
        (await createAt(instance, key, buildSlowRun(sandbox, index % 2 === 0 ? '1' : '0')).catch(
          () => '',
        ));
      if (runId) acknowledged.push(runId);
    }

    expect(acknowledged.length).toBeGreaterThan(60);
    await expect
      .poll(() => listUnfinished(database), { timeout: TAKEN_OVER_MS, interval: 500 })
      .toEqual([]);

    const ended = await readRuns(database);
    expect(acknowledged.filter(id => !ended.has(id))).toEqual([]);

    const paid = [...ended.values()].filter(status => status === 'succeeded').length;
    for (const { url } of instances.slice(1)) {
      const answer = await fetch(`${url}/me/credits`, {
        headers: { authorization: `Bearer ${key}` },
      });
      expect(await answer.json()).toMatchObject({ data: { credits: 1_000_000 - paid } });
    }

    expect(await witness.data('/me/credits', { key })).toEqual({ credits: 1_000_000 - paid });
  }, 180_000);
});

async function runQuery<R extends object>(database: string, sql: string): Promise<R[]> {
  const client = new pg.Client(database);
  await client.connect();
  try {
    return (await client.query<R>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function listUnfinished(database: string): Promise<object[]> {
  return await runQuery(
    database,
    `select "id", "status", "worker" from "runs" where "status" in ('queued', 'running')`,
  );
}

async function readRuns(database: string): Promise<Map<string, string>> {
  const rows = await runQuery<{ id: string; status: string }>(
    database,
    'select "id", "status" from "runs"',
  );
  return new Map(rows.map(({ id, status }) => [id, status]));
}
