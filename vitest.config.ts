import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/bench/**'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
    // The command's tests run the built command: globalSetup builds it once where it is missing or stale.
  },
});
