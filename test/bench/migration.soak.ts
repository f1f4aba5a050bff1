import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openStore } from '../../src/service/index.ts';
import { startPostgres } from '../support/databases/postgres.ts';

const RUNS = Number(process.env['RUNS'] ?? 1_000_000);
const CALLERS = 8;
const BEFORE_MS = 3000;

/** A database that an earlier version kept, and a creation as that version writes it. */
const DUMP = 'test/service/store/postgres/version-5.sql';

const CREATION = `insert into runs (id, "userId", "promptVersionId", name, status, "createdAt", credits, request, model)
  values (gen_random_uuid()::text, 1, '1ab23f49-f5ef-505a-a7d5-56c9957e2c97', 'Hello', 'succeeded', $1, 1, '{}', 'echo')`;

/**
 * Migrates a database of many runs while runs are created, and prints how long it blocked a
 * creation.
 */
export default async function soakMigration(): Promise<void> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'promptrun-migration-'));
  const cluster = await startPostgres({ durable: true });

  const pool = new pg.Pool({ connectionString: cluster.url, max: CALLERS });
  try {
    await pool.query(readFileSync(DUMP, 'utf8'));
    await pool.query(
      `insert into public.runs (id, "userId", "promptVersionId", name, status, "createdAt", credits, outputs, request, model)
       select gen_random_uuid()::text, "userId", "promptVersionId", name, 'succeeded', "createdAt" + n, 1,
         json_build_array(json_build_object('type', 'text', 'data', repeat('A day to you. ', 30))), request, model
       from public.runs, generate_series(1, $1) as n where name = 'Hello' limit $1`,
      [RUNS],
    );

    await pool.query('vacuum analyze public.runs');
    const over = new AbortController();
    let slowestMs = 0;
    let creations = 0;
    const callers = Array.from({ length: CALLERS }, async () => {
      while (!over.signal.aborted) {
        const since = performance.now();
        await pool.query(CREATION, [Date.now() * 1000]);
        slowestMs = Math.max(slowestMs, performance.now() - since);
        creations += 1;
      }
    });

    await sleep(BEFORE_MS);
    const usualMs = slowestMs;
    slowestMs = 0;
    const before = creations;
    const since = performance.now();
    const store = await openStore({ dataDir, databaseUrl: cluster.url, env: {} });
    const migrationMs = performance.now() - since;
    await store.close();
    over.abort();
    await Promise.all(callers);
    const figures = { migrationMs, slowestCreationMs: slowestMs, slowestBeforeMs: usualMs };
    const rounded = Object.entries(figures).map(([name, ms]) => [name, Math.round(ms)] as const);
    process.stdout.write(
      `${JSON.stringify({ runs: RUNS, creationsMeanwhile: creations - before, ...Object.fromEntries(rounded) })}\n`,
    );
  } finally {
    await pool.end();
    cluster.remove();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
