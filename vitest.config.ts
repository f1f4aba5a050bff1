import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/bench/**'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
    expect: { poll: { timeout: 15_000, interval: 20 } },
    globalSetup: 'test/support/build.ts',
  },
});
