import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Run, RunPage } from '../../../../src/wire/index.ts';
import {
  findPostgresPrograms,
  type PostgresCluster,
  type PostgresStandby,
  startPostgres,
} from '../../../support/databases/postgres.ts';
import { buildSlowRun } from '../../../support/databases/runs-on-database.ts';
import { makeDatabase } from '../../../support/databases/test-database.ts';
import { createTemporaryDataDir, TestService } from '../../../support/local-service.ts';

/** The limit of an answer: far less than a query may take, and more than a busy machine needs. */
const MAX_ANSWER_MS = 25_000;

describe.skipIf(findPostgresPrograms() === undefined)(
  'if the primary database is lost, even one that only falls silent,',
  () => {
    let primary: PostgresCluster;
    let standby: PostgresStandby;
    let database: string;

    beforeAll(async () => {
      primary = await startPostgres({ durable: true });
      await makeDatabase(primary.url, 'team');
      standby = await primary.standby();
      const hosts = [standby.url, primary.url].map(url => new URL(url).host);
      // The standby is named first: it is there, but takes no writes.
      database = `postgres://postgres@${hosts.join(',')}/team?target_session_attrs=read-write`;
    });

    afterAll(() => {
      standby?.remove();
      primary?.remove();
    });

    test('requests get 503 in time, and the promoted standby continues all runs', async () => {
      const service = await TestService.forTest({
        dataDir: createTemporaryDataDir(),
        databaseUrl: database,
      });
      const { key } = service;
      const sandbox = await service.versionOf('sandbox');
      const runBefore = await service.post<Run>('/runs', buildSlowRun(sandbox, '0'), { key });

      expect(runBefore.data.runStatus).toBe('succeeded');

      const runningRun = service.post<Run>('/runs', buildSlowRun(sandbox, '1'), { key });
      await expect
        .poll(async () => (await service.data<RunPage>('/runs', { key })).rows.length)
        .toBe(2);

      primary.freeze();
      const answers = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const requestedAt = Date.now();
          const { http } = await service.get('/runs', { key });
          return { http, isInTime: Date.now() - requestedAt < MAX_ANSWER_MS };
        }),
      );

      expect(answers).toEqual(answers.map(() => ({ http: 503, isInTime: true })));

      const ready = new URL('/readyz', service.service.url);
      expect((await fetch(ready)).status).toBe(503);

      standby.promote();
      await expect
        .poll(async () => (await fetch(ready)).status, { timeout: MAX_ANSWER_MS, interval: 100 })
        .toBe(200);
      expect((await runningRun).data.runStatus).toBe('succeeded');

      const runAfter = await service.post<Run>('/runs', buildSlowRun(sandbox, '0'), { key });
      expect(runAfter.data.runStatus).toBe('succeeded');

      const { rows } = await service.data<RunPage>('/runs', { key });
      expect(rows.map(({ runId }) => runId)).toContain(runBefore.data.runId);
      expect(rows.map(({ runStatus }) => runStatus)).toEqual([
        'succeeded',
        'succeeded',
        'succeeded',
      ]);
      expect(await service.data('/me/credits', { key })).toEqual({ credits: 1_000_000 - 3 });
    }, 120_000);
  },
);
