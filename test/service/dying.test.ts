import path from 'node:path';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type EmbeddedService, startEmbedded } from '../../src/service/index.ts';
import { openSqlite } from '../../src/service/store/sqlite/binding.ts';
import type { Run, RunPage, RunReference } from '../../src/wire/index.ts';
import { HandClock } from '../support/hand-clock.ts';
import { createKeyIn, TestService, temporaryDataDir } from '../support/local-service.ts';
import { type ServingProcess, serveInProcess } from '../support/serving-process.ts';

const LOOK_AROUND = 2000;
const DELAY = 130_000;

/** Number of runs that a service has in progress at a time; more are queued. */
const PARALLEL = 32;

let dataDir: string;
let key: string;
let clock: HandClock;
let witness: TestService | undefined;

beforeEach(async () => {
  dataDir = temporaryDataDir();
  key = await createKeyIn(dataDir, { user: 'ann', credits: 100 });
  clock = new HandClock();
});

afterEach(async () => {
  await witness?.close();
  witness = undefined;
});

/** Starts a service in this process, to look through and to take over. */
async function look(): Promise<TestService> {
  witness = await TestService.start({ dataDir, clock });
  return witness;
}

const rows = async (service: TestService) => (await service.data<RunPage>('/runs', { key })).rows;

/** Creates a run that takes longer than any of these tests. */
async function createIn({ url }: ServingProcess): Promise<string> {
  const headers = { authorization: `Bearer ${key}` };
  const found = await fetch(`${url}/prompts/publish?q=sandbox`, { headers });
  const { data } = (await found.json()) as { data: { rows: { promptVersionId: string }[] } };
  const body = {
    promptVersionId: data.rows[0]?.promptVersionId,
    inputs: {},
    runOptions: { delaySeconds: '130' },
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
    const runId = await createIn(first);
    await first.kill();
    const service = await look();
    await clock.waitForSleep(DELAY);

    expect(await rows(service)).toMatchObject([{ runId, runStatus: 'running', outputs: [] }]);

    clock.advance(DELAY);
    await expect
      .poll(() => rows(service))
      .toMatchObject([{ runId, runStatus: 'succeeded', credits: 1 }]);
  });

  test('twice: the run has failed, says why, and is paid back', async () => {
    const first = await serveInProcess(dataDir, '--sync-window', '0s');
    const runId = await createIn(first);
    await first.kill();
    const second = await serveInProcess(dataDir);

    await expect.poll(() => inStore(runId)).toEqual({ status: 'running', deaths: 1 });

    await second.kill();
    const service = await look();

    await expect
      .poll(() => rows(service))
      .toMatchObject([{ runId, runStatus: 'failed', credits: null, outputs: [{ type: 'error' }] }]);
    expect(await service.data('/me/credits', { key })).toEqual({ credits: 100 });
  });

  test('beside one that lives: it takes the run over soon', async () => {
    const service = await look();
    const first = await serveInProcess(dataDir, '--sync-window', '0s');
    const runId = await createIn(first);
    await first.kill();
    await clock.waitForSleep(LOOK_AROUND);
    clock.advance(LOOK_AROUND);
    await clock.waitForSleep(DELAY);
    clock.advance(DELAY);

    await expect.poll(() => rows(service)).toMatchObject([{ runId, runStatus: 'succeeded' }]);
  });
});

test('with --no-rerun what was begun fails immediately, and what was queued still runs', async () => {
  const first = await serveInProcess(dataDir, '--sync-window', '0s');
  const begun = await createIn(first);
  for (let others = 1; others < PARALLEL; others += 1) await createIn(first);
  const queued = await createIn(first);
  await first.kill();
  witness = await TestService.start({ dataDir, clock, rerun: false });
  await clock.waitForSleep(DELAY);
  const { rows: shown } = await witness.data<RunPage>('/runs?limit=50', { key });

  expect(shown).toHaveLength(PARALLEL + 1);
  expect(shown[0]).toMatchObject({ runId: queued, runStatus: 'running' });

  for (const run of shown.slice(1)) {
    expect(run).toMatchObject({ runStatus: 'failed', credits: null });
  }

  expect(shown.at(-1)?.outputs[0]?.data).toContain(`promptrun runs rerun ${begun}`);

  await witness.close();
  const { rows: later } = await (await look()).data<RunPage>('/runs?limit=50', { key });

  expect(new Set(later.map(({ runStatus }) => runStatus))).toEqual(new Set(['failed']));
});

test('a command leaves what a dead service was running to the next service', async () => {
  const first = await serveInProcess(dataDir, '--sync-window', '0s');
  const runId = await createIn(first);
  await first.kill();
  const command = await startEmbedded({ dataDir, clock, env: {} });
  onTestFinished(() => command.close());
  clock.advance(LOOK_AROUND);

  expect(await runIn(command, runId)).toMatchObject({ runStatus: 'running' });
  expect(await inStore(runId)).toEqual({ status: 'running', deaths: 0 });
});

test('a process never takes over runs of another that is alive', async () => {
  const first = await serveInProcess(dataDir, '--sync-window', '0s');
  const runId = await createIn(first);
  const service = await look();

  for (let round = 0; round < 5; round += 1) {
    await clock.waitForSleep(LOOK_AROUND);
    clock.advance(LOOK_AROUND);
  }

  await clock.waitForSleep(LOOK_AROUND);
  clock.advance(DELAY);
  await clock.waitForSleep(LOOK_AROUND);

  expect(await rows(service)).toMatchObject([{ runId, runStatus: 'running' }]);
});

/**
 * Reads a run from the store: over HTTP, a run that a dead process left looks like one that runs.
 */
async function inStore(runId: string): Promise<unknown> {
  const database = await openSqlite(path.join(dataDir, 'promptrun.db'));
  try {
    const [row] = database.prepare('select status, deaths from runs where id = ?').all(runId);
    return { ...(row as object) };
  } finally {
    database.close();
  }
}

/** Reads a run through the embedded service. */
async function runIn(service: EmbeddedService, runId: string): Promise<unknown> {
  const { body } = await service.request({
    method: 'GET',
    url: `${service.url}/runs/${runId}`,
    headers: { authorization: `Bearer ${key}` },
  });
  return ((await json(body)) as { data: Run }).data;
}
