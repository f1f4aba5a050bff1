import { readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import type { Run, RunPage } from '../../../../src/wire/index.ts';
import { runCommand } from '../../../support/command.ts';
import {
  findPostgresPrograms,
  type PostgresCluster,
  startPostgres,
} from '../../../support/databases/postgres.ts';
import { buildSlowRun } from '../../../support/databases/runs-on-database.ts';
import { makeDatabase } from '../../../support/databases/test-database.ts';
import { createTemporaryDataDir, TestService } from '../../../support/local-service.ts';

/** A store of version 5: `local` has 999,998 credits, a run in the queue and two that ended. */
const DUMP = readFileSync(path.join(import.meta.dirname, 'version-5.sql'), 'utf8');

describe.skipIf(findPostgresPrograms() === undefined)(
  'a database that an earlier version kept',
  () => {
    let cluster: PostgresCluster;
    let client: pg.Client;
    beforeAll(async () => {
      cluster = await startPostgres();
    });
    afterEach(() => client.end());
    afterAll(() => cluster?.remove());

    const restored = async (name: string): Promise<string> => {
      const database = await makeDatabase(cluster.url, name);
      client = new pg.Client(database);
      await client.connect();
      await client.query(DUMP);
      return database;
    };

    test('is migrated with all its data, by one of the instances that start at once', async () => {
      const database = await restored('upgrade');
      const startInstance = () =>
        TestService.forTest({ dataDir: createTemporaryDataDir(), databaseUrl: database });
      const [service, otherService] = await Promise.all([startInstance(), startInstance()]);
      const notices = [...service.notices, ...otherService.notices];

      expect(
        notices.filter(notice => notice.includes('written by an older promptrun')),
      ).toHaveLength(1);

      const rows = async () => (await service.data<RunPage>('/runs')).rows;
      const listRuns = async () =>
        (await rows()).map(row => [row.runName, row.runStatus, row.credits]);

      await expect.poll(listRuns).toEqual([
        ['Sandbox', 'succeeded', 1],
        ['Sandbox', 'failed', null],
        ['Hello', 'succeeded', 1],
      ]);

      const [continued] = await rows();
      expect((await service.data<Run>(`/runs/${continued?.runId}`)).outputs[0]?.data).toContain(
        'still here',
      );

      const next = await service.post<Run>(
        '/runs',
        buildSlowRun(await service.versionOf('sandbox'), '0'),
      );
      expect(next.data.runStatus).toBe('succeeded');
      expect(await service.data('/me/credits')).toEqual({ credits: 999_997 });
    });

    test('runs what an instance of the earlier version still writes to it', async () => {
      const database = await restored('beside');
      const service = await TestService.forTest({
        dataDir: createTemporaryDataDir(),
        databaseUrl: database,
      });

      // Written as that version writes them, without the columns that were added since.
      await client.query(
        `insert into runs (id, "userId", "promptVersionId", name, status, "createdAt", credits, request, model)
       select gen_random_uuid()::text, "userId", "promptVersionId", 'Late', 'queued', "createdAt" + 1, 1, request, model
       from runs where name = 'Hello'`,
      );

      const late = async () =>
        (await service.data<RunPage>('/runs')).rows.find(row => row.runName === 'Late');
      await expect.poll(async () => (await late())?.runStatus).toBe('succeeded');
    });

    test('is used by this version too after a newer one has migrated it, unless it says that this version is too old', async () => {
      const database = await makeDatabase(cluster.url, 'newer');
      client = new pg.Client(database);
      await client.connect();
      const start = () =>
        TestService.start({ dataDir: createTemporaryDataDir(), databaseUrl: database });
      await (await start()).close();
      const { rows } = await client.query('select * from "storeVersion"');

      expect(rows).toEqual([
        expect.objectContaining({ program: expect.stringMatching(/^\d+\.\d+\.\d+/) as string }),
      ]);

      await client.query(
        `update "storeVersion" set "version" = "version" + 1, "program" = '7.1.0'`,
      );
      const service = await start();
      const run = await service.post<Run>(
        '/runs',
        buildSlowRun(await service.versionOf('sandbox'), '0'),
      );

      expect(run.data.runStatus).toBe('succeeded');

      await service.close();

      await client.query(
        `update "storeVersion" set "oldest" = "version", "oldestProgram" = '7.0.0'`,
      );
      const { code, stderr } = await runCommand(['serve', '--port', '0', '--database', database]);

      expect(stderr).toMatch(/promptrun 7\.1\.0.*7\.0\.0 or newer/);
      expect(code).toBe(EXIT.usage);
    });
  },
);
