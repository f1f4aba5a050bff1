import { defineConfig } from 'vitest/config';
import { findPostgresPrograms } from './test/support/databases/postgres.ts';
import { SlowFirst } from './test/support/slow-first.ts';

/** What holds for either kind of store is tested on both. */
const ON_BOTH_STORES = ['test/contract/**/*.test.ts'];

/** Options of each project. `maxWorkers` is not among them: that of a project would outweigh `--maxWorkers`. */
const SHARED = {
  // Long enough for a machine that does other things as well: what hangs is found a little later.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // Modules hold no state, so files share a process and load what they test once.
  isolate: false,
  expect: { poll: { timeout: 60_000, interval: 20 } },
};

const SETUP = ['test/support/temporary.ts', 'test/support/build.ts'];

const onPostgres = {
  test: {
    ...SHARED,
    name: 'on PostgreSQL',
    include: ON_BOTH_STORES,
    globalSetup: [...SETUP, 'test/support/databases/postgres-setup.ts'],
  },
};

if (findPostgresPrograms() === undefined) {
  process.stderr.write('PostgreSQL is not installed: the tests that need it are skipped.\n');
}

export default defineConfig({
  test: {
    // Three for each of two cores: half of a file's time is waiting for other processes, delays and leases. One more worker
    // costs two seconds of processor time, to load the modules, in each project.
    maxWorkers: 6,
    sequence: { sequencer: SlowFirst },
    // Transforming what one file loads takes longer than most files; names of imports are whole, so none becomes stale.
    experimental: { fsModuleCache: true },
    projects: [
      {
        test: {
          ...SHARED,
          name: 'promptrun',
          include: ['test/**/*.test.ts'],
          exclude: ['test/bench/**'],
          globalSetup: SETUP,
        },
      },
      ...(findPostgresPrograms() === undefined ? [] : [onPostgres]),
    ],
  },
});
