import path from 'node:path';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type EmbeddedService, startEmbedded } from '../../src/service/index.ts';
import { openSqlite } from '../../src/service/store/sqlite/binding.ts';
import type { Run, RunPage, RunReference } from '../../src/wire/index.ts';
import { HandClock } from '../support/hand-clock.ts';
import { createKeyIn, createTemporaryDataDir, TestService } from '../support/local-service.ts';
import { type ServingProcess, serveInProcess } from '../support/serving-process.ts';

/** The interval at which a service looks for runs of dead processes. */
const CLAIM_INTERVAL_MS = 2000;

const RUN_SECONDS = 130;
const RUN_MS = RUN_SECONDS * 1000;

/** The number of runs that a service has in progress at a time by default; more are queued. */
const MAX_CONCURRENT_RUNS = 32;

let dataDir: string;
let key: string;
let clock: HandClock;
let runningService: TestService | undefined;

beforeEach(async () => {
  dataDir = createTemporaryDataDir();
  key = await createKeyIn(dataDir, { user: 'ann', credits: 100 });
  clock = new HandClock();
});

afterEach(async () => {
  await runningService?.close();
  runningService = undefined;
});

/** Starts a service in this process, which shows the runs and takes them over. */
async function startService(): Promise<TestService> {
  runningService = await TestService.start({ dataDir, clock });
  return runningService;
}

const listRuns = async (service: TestService) =>
  (await service.data<RunPage>('/runs', { key })).rows;

/** Creates a run that takes longer than any of these tests. */
async function createLongRun({ url }: ServingProcess): Promise<string> {
  const headers = { authorization: `Bearer ${key}` };
  const found = await fetch(`${url}/prompts/publish?q=sandbox`, { headers });
  const { data } = (await found.json()) as { data: { rows: { promptVersionId: string }[] } };
  const body = {
    promptVersionId: data.rows[0]?.promptVersionId,
    inputs: {},
    runOptions: { delaySeconds: String(RUN_SECONDS) },
  };

  const answer = await fetch(`${url}/runs`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  return ((await answer.json()) as { data: RunReference }).data.runId;
}

describe('a process that dies while a run is running', () => {
  test('once: the run is queued again and ends', async () => {
    const first = await serveInProcess(dataDir, '--sync-window', '0s');
    const runId = await createLongRun(first);
    await first.kill();
    const service = await startService();
    await clock.waitForSleep(RUN_MS);

    expect(await listRuns(service)).toMatchObject([{ runId, runStatus: 'running', outputs: [] }]);

    clock.advance(RUN_MS);
    await expect
      .poll(() => listRuns(service))
      .toMatchObject([{ runId, runStatus: 'succeeded', credits: 1 }]);
  });

  test('twice: the run has failed, says why, and is paid back', async () => {
    const first = await serveInProcess(dataDir, '--sync-window', '0s');
    const runId = await createLongRun(first);
    await first.kill();
    const second = await serveInProcess(dataDir);

    await expect.poll(() => readStoredRun(runId)).toEqual({ status: 'running', deaths: 1 });

    await second.kill();
    const service = await startService();

    await expect
      .poll(() => listRuns(service))
      .toMatchObject([{ runId, runStatus: 'failed', credits: null, outputs: [{ type: 'error' }] }]);
    expect(await service.data('/me/credits', { key })).toEqual({ credits: 100 });
  });

  test('beside one that lives: the living one soon takes the run over', async () => {
    const service = await startService();
    const first = await serveInProcess(dataDir, '--sync-window', '0s');
    const runId = await createLongRun(first);
    await first.kill();
    await clock.waitForSleep(CLAIM_INTERVAL_MS);
    clock.advance(CLAIM_INTERVAL_MS);
    await clock.waitForSleep(RUN_MS);
    clock.advance(RUN_MS);

    await expect.poll(() => listRuns(service)).toMatchObject([{ runId, runStatus: 'succeeded' }]);
  });
});

test('with --no-rerun what was begun fails immediately, and what was queued still runs', async () => {
  const first = await serveInProcess(dataDir, '--sync-window', '0s');
  const runningRunId = await createLongRun(first);
  for (let others = 1; others < MAX_CONCURRENT_RUNS; others += 1) await createLongRun(first);
  const queuedRunId = await createLongRun(first);
  await first.kill();
  runningService = await TestService.start({ dataDir, clock, rerun: false });
  await clock.waitForSleep(RUN_MS);
  const { rows: rowsAfterKill } = await runningService.data<RunPage>('/runs?limit=50', { key });

  expect(rowsAfterKill).toHaveLength(MAX_CONCURRENT_RUNS + 1);
  expect(rowsAfterKill[0]).toMatchObject({ runId: queuedRunId, runStatus: 'running' });

  for (const run of rowsAfterKill.slice(1)) {
    expect(run).toMatchObject({ runStatus: 'failed', credits: null });
  }

  expect(rowsAfterKill.at(-1)?.outputs[0]?.data).toContain(`promptrun runs rerun ${runningRunId}`);

  await runningService.close();
  const { rows: rowsAfterRestart } = await (await startService()).data<RunPage>('/runs?limit=50', {
    key,
  });

  expect(new Set(rowsAfterRestart.map(({ runStatus }) => runStatus))).toEqual(new Set(['failed']));
});

test('a command leaves what a dead service was running to the next service', async () => {
  const first = await serveInProcess(dataDir, '--sync-window', '0s');
  const runId = await createLongRun(first);
  await first.kill();
  const command = await startEmbedded({ dataDir, clock, env: {} });
  onTestFinished(() => command.close());
  clock.advance(CLAIM_INTERVAL_MS);

  expect(await readEmbeddedRun(command, runId)).toMatchObject({ runStatus: 'running' });
  expect(await readStoredRun(runId)).toEqual({ status: 'running', deaths: 0 });
});

test('a process never takes over runs of another that is alive', async () => {
  const first = await serveInProcess(dataDir, '--sync-window', '0s');
  const runId = await createLongRun(first);
  const service = await startService();

  for (let round = 0; round < 5; round += 1) {
    await clock.waitForSleep(CLAIM_INTERVAL_MS);
    clock.advance(CLAIM_INTERVAL_MS);
  }

  await clock.waitForSleep(CLAIM_INTERVAL_MS);
  clock.advance(RUN_MS);
  await clock.waitForSleep(CLAIM_INTERVAL_MS);

  expect(await listRuns(service)).toMatchObject([{ runId, runStatus: 'running' }]);
});

/**
 * Reads a run from the store: over HTTP, a run that a dead process left looks like one that runs.
 */
async function readStoredRun(runId: string): Promise<unknown> {
  const database = await openSqlite(path.join(dataDir, 'promptrun.db'));
  try {
    const [row] = database.prepare('select status, deaths from runs where id = ?').all(runId);
    return { ...(row as object) };
  } finally {
    database.close();
  }
}

/** Reads a run through the embedded service. */
async function readEmbeddedRun(service: EmbeddedService, runId: string): Promise<unknown> {
  const { body } = await service.request({
    method: 'GET',
    url: `${service.url}/runs/${runId}`,
    headers: { authorization: `Bearer ${key}` },
  });
  return ((await json(body)) as { data: Run }).data;
}
