import { expect, test } from 'vitest';
import type { Run, RunPage, RunRow } from '../../src/wire/index.ts';
import { createKeyIn, createTemporaryDataDir, TestService } from '../support/local-service.ts';
import { type ServingProcess, serveInProcess } from '../support/serving-process.ts';

const CREDITS = 10_000;
const ROUNDS = 4;

/**
 * The number of creations that are acknowledged before the process is killed in the middle of
 * others.
 */
const ACKNOWLEDGED_RUNS = 25;
const CONCURRENT_CREATIONS = 8;

test('kill -9 at any moment loses no acknowledged run, and no credit', async () => {
  const dataDir = createTemporaryDataDir();
  const key = await createKeyIn(dataDir, { user: 'ann', credits: CREDITS });
  const acknowledged = new Map<string, Run>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const process = await serveInProcess(dataDir);
    for (const run of await createUntilKilled(process, key)) acknowledged.set(run.runId, run);
  }

  const service = await TestService.forTest({ dataDir });
  const countQueued = () =>
    service.data<RunPage>('/runs?status=queued', { key }).then(page => page.rows.length);

  await expect.poll(countQueued).toBe(0);

  const countRunning = () =>
    service.data<RunPage>('/runs?status=running', { key }).then(page => page.rows.length);
  await expect.poll(countRunning).toBe(0);

  const rows = new Map((await listAllRuns(service, key)).map(row => [row.runId, row]));
  for (const run of acknowledged.values()) {
    expect(rows.get(run.runId)).toMatchObject({
      outputs: run.outputs,
      runStatus: 'succeeded',
      credits: 1,
    });
  }

  const spent = [...rows.values()].reduce((sum, row) => sum + (row.credits ?? 0), 0);
  expect(await service.data('/me/credits', { key })).toEqual({ credits: CREDITS - spent });
});

/** Kills the process while it creates runs, and returns the acknowledged ones. */
async function createUntilKilled(process: ServingProcess, key: string): Promise<Run[]> {
  const promptVersionId = await findHelloVersion(process.url, key);
  const runs: Run[] = [];
  let killed: Promise<void> | undefined;
  const createInSequence = async (): Promise<void> => {
    while (killed === undefined) {
      const run = await createRun(process.url, key, promptVersionId);
      if (run) runs.push(run);
      if (runs.length >= ACKNOWLEDGED_RUNS) killed ??= process.kill();
    }
  };

  await Promise.all(Array.from({ length: CONCURRENT_CREATIONS }, createInSequence));
  await killed;
  return runs;
}

/** Returns undefined if the process died before it answered. */
async function createRun(
  url: string,
  key: string,
  promptVersionId: string,
): Promise<Run | undefined> {
  try {
    const answer = await fetch(`${url}/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ promptVersionId, inputs: { textInputs: { name: 'Ann' } } }),
    });
    return ((await answer.json()) as { data: Run }).data;
  } catch {
    return undefined;
  }
}

async function findHelloVersion(url: string, key: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${url}/prompts/publish?q=hello`, { headers });
  const { data } = (await answer.json()) as { data: { rows: { promptVersionId: string }[] } };
  return data.rows[0]?.promptVersionId ?? '';
}

async function listAllRuns(service: TestService, key: string): Promise<RunRow[]> {
  const rows: RunRow[] = [];
  for (let query = '', more = true; more; query = `&startingAfter=${rows.at(-1)?.runId}`) {
    const page = await service.data<RunPage>(`/runs?limit=50${query}`, { key });
    rows.push(...page.rows);
    more = page.hasMore;
  }
  return rows;
}
