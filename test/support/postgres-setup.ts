import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A database server for the tests; undefined where they keep their stores in files. */
    postgres: string | undefined;
  }
}

/** A database server for as long as the tests of a project run. */
export default async function setUp(project: TestProject): Promise<() => void> {
  const cluster = await startPostgres();
  project.provide('postgres', cluster.url);
  return () => cluster.remove();
}
