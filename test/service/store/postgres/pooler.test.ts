import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import type { Run } from '../../../../src/wire/index.ts';
import { runCommand } from '../../../support/command.ts';
import {
  hasPgBouncer,
  type PgBouncer,
  startPgBouncer,
} from '../../../support/databases/pgbouncer.ts';
import {
  findPostgresPrograms,
  type PostgresCluster,
  startPostgres,
} from '../../../support/databases/postgres.ts';
import { buildSlowRun } from '../../../support/databases/runs-on-database.ts';
import { makeDatabase } from '../../../support/databases/test-database.ts';
import { createTemporaryDataDir, TestService } from '../../../support/local-service.ts';

describe.skipIf(findPostgresPrograms() === undefined || !hasPgBouncer)(
  'a database behind PgBouncer',
  () => {
    let cluster: PostgresCluster;

    beforeAll(async () => {
      cluster = await startPostgres();
    });
    afterAll(() => cluster?.remove());

    /** Starts a pooler before a new database; it is stopped at the end of the test. */
    async function startPooler(name: string, mode: 'session' | 'transaction'): Promise<PgBouncer> {
      const pooler = await startPgBouncer(await makeDatabase(cluster.url, name), mode);
      onTestFinished(() => pooler.stop());
      return pooler;
    }

    test.each([
      ['session', ''],
      ['transaction', '?prepare=false'],
    ] as const)('in %s mode carries out runs of several instances at once', async (mode, query) => {
      const pooler = await startPooler(`pool_${mode}`, mode);
      const database = `${pooler.url}${query}`;
      const serviceA = await TestService.forTest({
        dataDir: createTemporaryDataDir(),
        databaseUrl: database,
      });
      const serviceB = await TestService.forTest({
        dataDir: createTemporaryDataDir(),
        databaseUrl: database,
      });
      const { key } = serviceA;
      const body = buildSlowRun(await serviceA.versionOf('sandbox'), '0');
      const creations = Array.from({ length: 30 }, () => [
        serviceA.post<Run>('/runs', body, { key }),
        serviceB.post<Run>('/runs', body, { key }),
      ]);

      const runs = await Promise.all(creations.flat());
      expect(runs.map(({ data }) => data.runStatus)).toEqual(Array(60).fill('succeeded'));
      expect(await serviceA.data('/me/credits', { key })).toEqual({ credits: 1_000_000 - 60 });
    });

    test('in transaction mode is refused without prepare=false, which is named', async () => {
      const pooler = await startPooler('pool_refused', 'transaction');
      const { code, stderr } = await runCommand(['serve', '--port', '0', '--database', pooler.url]);
      expect(stderr).toContain('prepare=false');
      expect(code).toBe(EXIT.usage);
    });
  },
);
