import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Run, RunRow } from '../../src/wire/index.ts';
import {
  createKeyIn,
  createTemporaryDataDir,
  publishPromptFile,
  TestService,
} from '../support/local-service.ts';
import { serveInProcess } from '../support/serving-process.ts';

const PROMPT = '---\nmodel: bot\n---\nHello\n';

/**
 * Creates a data directory with the model `bot`, a program that runs a script with Node. `countStarts`
 * returns how often it was started.
 */
function createBotModel(script: string): { dataDir: string; countStarts: () => number } {
  const dataDir = createTemporaryDataDir();
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const log = path.join(dataDir, 'starts.log');
  const logged = `require("node:fs").appendFileSync(${JSON.stringify(log)}, "started\\n"); ${script}`;
  const entry = { model: 'bot', modality: 'text', program: [process.execPath, '-e', logged] };
  writeFileSync(path.join(dataDir, 'models.yaml'), JSON.stringify({ models: [entry] }));

  return {
    dataDir,
    countStarts: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').length : 0),
  };
}

const HANGING_SCRIPT = 'setInterval(() => {}, 1000)';

async function createRun(url: string, key: string, promptVersionId: string): Promise<Run> {
  const answer = await fetch(`${url}/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ promptVersionId, inputs: {} }),
  });
  return ((await answer.json()) as { data: Run }).data;
}

test('a serve with several users runs programs only with --allow-programs', async () => {
  const { dataDir, countStarts } = createBotModel('console.log("Hi")');
  const env = { PATH: process.env['PATH'] };
  const service = await TestService.forTest({ dataDir, env });
  const { promptVersionId } = await service.publish('bot', PROMPT);
  const runOfLocal = await createRun(service.service.url, service.key, promptVersionId);
  expect(runOfLocal.runStatus).toBe('succeeded');

  const ann = await createKeyIn(dataDir, { user: 'ann' });
  expect(await createRun(service.service.url, ann, promptVersionId)).toMatchObject({
    runStatus: 'failed',
    outputs: [{ data: 'programs are not run here, since this service has several users' }],
  });
  expect(service.notices).toContainEqual(expect.stringContaining('start with --allow-programs'));
  expect(countStarts()).toBe(1);

  await service.close();
  const allowing = await TestService.forTest({ dataDir, env, allowPrograms: true });
  const runOfAnn = await createRun(allowing.service.url, ann, promptVersionId);
  expect(runOfAnn.runStatus).toBe('succeeded');
});

/** A service that can be ended, by its own end or by the death of its process. */
interface EndingService {
  readonly url: string;
  readonly end: () => Promise<void>;
}

async function startKillable(dataDir: string): Promise<EndingService> {
  const serving = await serveInProcess(dataDir);
  return { url: serving.url, end: () => serving.kill() };
}

async function startClosable(dataDir: string): Promise<EndingService> {
  const service = await TestService.forTest({ dataDir, env: process.env });
  return { url: service.service.url, end: () => service.close() };
}

test.each([
  ['killed', startKillable],
  ['closed', startClosable],
])('a serve that was %s never starts a program again', async (_, startFirst) => {
  const { dataDir, countStarts } = createBotModel(HANGING_SCRIPT);
  const key = await createKeyIn(dataDir, { user: 'local' });
  const first = await startFirst(dataDir);
  const { promptVersionId } = await publishPromptFile(dataDir, 'bot', PROMPT);
  const creation = createRun(first.url, key, promptVersionId).catch(() => undefined);

  await expect.poll(countStarts).toBe(1);

  await first.end();
  await creation;
  const service = await TestService.forTest({ dataDir, env: process.env });
  const fetchRows = (): Promise<RunRow[]> =>
    service.data<{ rows: RunRow[] }>('/runs', { key }).then(page => page.rows);

  await expect
    .poll(async () => (await fetchRows()).map(({ runStatus }) => runStatus))
    .toEqual(['failed']);
  expect(JSON.stringify(await fetchRows())).toMatch(/stopped by the end of its service/);
  expect(countStarts()).toBe(1);
});
