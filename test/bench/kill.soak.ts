import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Run, RunPage, RunRow } from '../../src/wire/index.ts';
import {
  buildCreation,
  fetchData,
  type Server,
  sampleVersion,
  startServer,
} from './service-server.ts';

const ROUNDS = 50;
const AT_ONCE = 8;

/** The credits of every new user. */
const CREDITS = 1_000_000;

/**
 * Kills the service with SIGKILL at random moments, and counts what became of acknowledged runs.
 */
export default async function soakKills(): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'promptrun-kills-'));
  try {
    const acknowledged = new Map<string, Run>();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const run of await createUntilKilled(directory)) acknowledged.set(run.runId, run);
    }
    await report(await startServer('service', directory), acknowledged);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function createUntilKilled(dataDir: string): Promise<Run[]> {
  const server = await startServer('service', dataDir);
  const body = buildCreation(await sampleVersion(server));
  const runs: Run[] = [];
  const createOneAfterAnother = async (): Promise<void> => {
    while (!server.process.killed) {
      const run = await fetchData<Run>(server, '/runs', body).catch(() => undefined);
      if (run) runs.push(run);
    }
  };

  const creating = Array.from({ length: AT_ONCE }, createOneAfterAnother);
  await sleep(50 + Math.random() * 400);
  const gone = once(server.process, 'exit');
  server.process.kill('SIGKILL');
  await Promise.all([...creating, gone]);

  return runs;
}

async function report(server: Server, acknowledged: ReadonlyMap<string, Run>): Promise<void> {
  while (await hasRunsInProgress(server)) await sleep(100);
  const rows = await fetchAllRows(server);
  const lost = [...acknowledged.values()].filter(
    run => JSON.stringify(rows.get(run.runId)?.outputs) !== JSON.stringify(run.outputs),
  );
  const spent = [...rows.values()].reduce((sum, row) => sum + (row.credits ?? 0), 0);
  const { credits } = await fetchData<{ credits: number }>(server, '/me/credits');
  server.process.kill('SIGKILL');
  process.stdout.write(
    `kill -9: ${ROUNDS} rounds, ${acknowledged.size} runs acknowledged, ${lost.length} lost; ` +
      `${rows.size} in the store, ${CREDITS - spent - credits} credits astray\n`,
  );
  if (lost.length > 0 || CREDITS - spent !== credits) throw new Error('runs or credits were lost');
}

async function hasRunsInProgress(server: Server): Promise<boolean> {
  const pages = await Promise.all(
    ['queued', 'running'].map(status =>
      fetchData<RunPage>(server, `/runs?limit=1&status=${status}`),
    ),
  );
  return pages.some(page => page.rows.length > 0);
}

async function fetchAllRows(server: Server): Promise<Map<string, RunRow>> {
  const rows = new Map<string, RunRow>();
  for (let query = '/runs?limit=50', more = true; more; ) {
    const page = await fetchData<RunPage>(server, query);
    for (const row of page.rows) rows.set(row.runId, row);
    query = `/runs?limit=50&startingAfter=${page.rows.at(-1)?.runId}`;
    more = page.hasMore;
  }
  return rows;
}
