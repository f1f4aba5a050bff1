import type { TestProject } from 'vitest/node';
import { serviceClock } from '../../../src/service/core/clock.ts';
import { openPostgresStore } from '../../../src/service/store/postgres/open-postgres-store.ts';
import { startPostgres } from './postgres.ts';
import { makeDatabase } from './test-database.ts';

const MIGRATED = 'migrated';

/** Starts a database server for as long as the tests of a project run. */
export default async function setUp(project: TestProject): Promise<() => void> {
  const cluster = await startPostgres({ vacuums: false });
  const store = await openPostgresStore(await makeDatabase(cluster.url, MIGRATED), {
    dataDir: '',
    clock: serviceClock,
  });
  await store.close();
  project.provide('postgres', cluster.url);
  project.provide('migrated', MIGRATED);

  return () => cluster.remove();
}
