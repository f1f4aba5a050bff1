import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import type { Run } from '../../../../src/wire/index.ts';
import { runCommand } from '../../../support/command.ts';
import {
  hasPgBouncer,
  type PgBouncer,
  startPgBouncer,
} from '../../../support/databases/pgbouncer.ts';
import {
  type PostgresCluster,
  postgresPrograms,
  startPostgres,
} from '../../../support/databases/postgres.ts';
import { slowRun } from '../../../support/databases/runs-on-database.ts';
import { makeDatabase } from '../../../support/databases/test-database.ts';
import { TestService, temporaryDataDir } from '../../../support/local-service.ts';

describe.skipIf(postgresPrograms() === undefined || !hasPgBouncer)(
  'a database behind PgBouncer',
  () => {
    let cluster: PostgresCluster;
    let pooler: PgBouncer | undefined;

    beforeAll(async () => {
      cluster = await startPostgres();
    });
    afterAll(async () => {
      await pooler?.stop();
      cluster?.remove();
    });

    test.each([
      ['session', ''],
      ['transaction', '?prepare=false'],
    ] as const)('in %s mode carries out runs of several instances at once', async (mode, query) => {
      pooler = await startPgBouncer(await makeDatabase(cluster.url, `pool_${mode}`), mode);
      const database = `${pooler.url}${query}`;
      const start = () => TestService.start({ dataDir: temporaryDataDir(), database });
      const one = await start();
      const { key } = one;
      const all = [one, await start()];
      const sandbox = await one.versionOf('sandbox');
      const made = await Promise.all(
        Array.from(
          { length: 60 },
          async (_, index) =>
            await all[index % 2]?.post<Run>('/runs', slowRun(sandbox, '0'), { key }),
        ),
      );

      expect(new Set(made.map(run => run?.data.runStatus))).toEqual(new Set(['succeeded']));
      expect(await one.data('/me/credits', { key })).toEqual({ credits: 1_000_000 - 60 });

      await Promise.all(all.map(service => service.close()));
      await pooler.stop();
    });

    test('in transaction mode is refused without prepare=false, which is named', async () => {
      pooler = await startPgBouncer(await makeDatabase(cluster.url, 'pool_refused'), 'transaction');
      const { code, stderr } = await runCommand(['serve', '--port', '0', '--database', pooler.url]);
      expect(stderr).toContain('prepare=false');
      expect(code).toBe(EXIT.usage);
      await pooler.stop();
    });
  },
);
