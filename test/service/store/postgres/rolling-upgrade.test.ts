import pg from 'pg';
import {
  afterAll,
  beforeAll,
  describe,
  expect,
  onTestFinished,
  type TestContext,
  test,
} from 'vitest';
import { EXIT } from '../../../../src/cli/core/exit-codes.ts';
import { COMMAND, runCommand } from '../../../support/command.ts';
import {
  findPostgresPrograms,
  type PostgresCluster,
  startPostgres,
} from '../../../support/databases/postgres.ts';
import { makeDatabase } from '../../../support/databases/test-database.ts';
import {
  buildNextVersion,
  buildVersion,
  findPreviousVersion,
} from '../../../support/other-versions.ts';
import { RollingFleet } from '../../../support/rolling-fleet.ts';

/** The credits of the first key's user, and of a run. */
const [CREDITS, COST] = [1_000_000, 2];

describe.skipIf(findPostgresPrograms() === undefined)(
  'instances of two versions on one database',
  () => {
    let cluster: PostgresCluster;
    beforeAll(async () => {
      cluster = await startPostgres();
    });
    afterAll(() => cluster?.remove());

    test('replace each other under load, upwards and back, and neither fail a request nor repeat a run', async (context: TestContext) => {
      const previous = findPreviousVersion();
      if ('unknown' in previous) {
        context.skip(`no previous version can be built: ${previous.unknown}`);
      }

      const before = buildVersion(previous.commit);
      const after = buildNextVersion();
      const database = await makeDatabase(cluster.url, 'rolling');
      const client = new pg.Client(database);
      await client.connect();
      const fleet = await RollingFleet.on(database);
      onTestFinished(async () => {
        await fleet.close();
        await client.end();
      });

      const form = async () => {
        const { rows } = await client.query<{ version: number; oldest?: number }>(
          'select * from "storeVersion"',
        );
        return { version: 0, oldest: 0, ...rows[0] };
      };

      await fleet.join(before);
      await fleet.join(before);
      const old = await form();
      await fleet.startLoad();

      expect(await fleet.replaceOldest(COMMAND)).toBe(0);
      expect(await fleet.replaceOldest(COMMAND)).toBe(0);

      const present = await form();
      if (old.version >= present.oldest) {
        expect(await fleet.replaceOldest(before)).toBe(0);
      } else {
        const { code, stderr } = await runCommand(['serve', '--database', database], {
          command: before,
        });
        expect(stderr).toContain('newer');
        expect(code).toBe(EXIT.usage);
      }

      expect(await fleet.replaceOldest(after)).toBe(0);
      expect(await form()).toMatchObject({ version: present.version + 1, oldest: present.oldest });
      expect(await fleet.replaceOldest(COMMAND)).toBe(0);

      // A busy machine takes longer for enough of them.
      await expect.poll(() => fleet.acknowledged.size).toBeGreaterThan(50);
      expect(await fleet.leave()).toBe(0);

      await fleet.stopLoad();

      expect([...fleet.answers.keys()]).toEqual(['200']);
      expect(new Set(fleet.acknowledged.values())).toEqual(new Set(['succeeded']));
      expect(new Set(fleet.timesAsked().values())).toEqual(new Set([1]));

      const { rows } = await client.query<{ id: string; status: string }>(
        'select id, status from runs',
      );
      expect(new Map(rows.map(({ id, status }) => [id, status]))).toEqual(fleet.acknowledged);

      const credits = CREDITS - COST * fleet.acknowledged.size;
      expect(await fleet.get('/me/credits')).toEqual({ credits });
    }, 120_000);
  },
);
