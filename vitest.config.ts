import { defineConfig } from 'vitest/config';
import { postgresPrograms } from './test/support/postgres.ts';

/** What holds for either kind of store is tested on both. */
const ON_BOTH_STORES = ['test/contract/**/*.test.ts'];

/** Tests of one file at a time that leave nothing behind: they share a process, and load what they test once. */
const UNITS = [
  'test/wire/**/*.test.ts',
  'test/cli/{core,inputs,outputs,program,questions,runtime,settings,terminal}/**/*.test.ts',
  'test/service/prompts/**/*.test.ts',
];

const onPostgres = {
  extends: true as const,
  test: {
    name: 'on PostgreSQL',
    include: ON_BOTH_STORES,
    globalSetup: ['test/support/build.ts', 'test/support/postgres-setup.ts'],
  },
};

if (postgresPrograms() === undefined) {
  process.stderr.write('PostgreSQL is not installed: the tests that need it are skipped.\n');
}

export default defineConfig({
  test: {
    exclude: ['test/bench/**'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
    expect: { poll: { timeout: 15_000, interval: 20 } },
    projects: [
      {
        extends: true,
        test: { name: 'units', include: UNITS, isolate: false, globalSetup: ['test/support/build.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'promptrun',
          include: ['test/**/*.test.ts'],
          exclude: ['test/bench/**', ...UNITS],
          globalSetup: ['test/support/build.ts'],
        },
      },
      ...(postgresPrograms() === undefined ? [] : [onPostgres]),
    ],
  },
});
