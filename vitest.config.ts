import { defineConfig } from 'vitest/config';
import { postgresPrograms } from './test/support/postgres.ts';
import { SlowFirst } from './test/support/slow-first.ts';

/** What holds for either kind of store is tested on both. */
const ON_BOTH_STORES = ['test/contract/**/*.test.ts'];

const onPostgres = {
  extends: true as const,
  test: {
    name: 'on PostgreSQL',
    include: ON_BOTH_STORES,
    globalSetup: ['test/support/postgres-setup.ts'],
  },
};

if (postgresPrograms() === undefined) {
  process.stderr.write('PostgreSQL is not installed: the tests that need it are skipped.\n');
}

export default defineConfig({
  test: {
    exclude: ['test/bench/**'],
    globalSetup: ['test/support/temporary.ts', 'test/support/build.ts'],
    // Long enough for a machine that does other things as well: what hangs is found a little later.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // One more than there are cores at least: some tests wait for a second process, or for a lease to end.
    maxWorkers: 4,
    // Modules hold no state, so files share a process and load what they test once.
    isolate: false,
    sequence: { sequencer: SlowFirst },
    expect: { poll: { timeout: 60_000, interval: 20 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'promptrun',
          include: ['test/**/*.test.ts'],
          exclude: ['test/bench/**'],
        },
      },
      ...(postgresPrograms() === undefined ? [] : [onPostgres]),
    ],
  },
});
