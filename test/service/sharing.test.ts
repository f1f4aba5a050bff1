import { statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Run, RunPage } from '../../src/wire/index.ts';
import {
  createKeyIn,
  createTemporaryDataDir,
  openStoreIn,
  storeForTest,
  TestService,
} from '../support/local-service.ts';
import { serveInProcess } from '../support/serving-process.ts';
import { isPosix } from '../support/system.ts';

const CREATIONS_PER_PROCESS = 40;

test('several services start on a fresh data directory at once', async () => {
  const dataDir = createTemporaryDataDir();
  const starts = Array.from({ length: 4 }, () => TestService.forTest({ dataDir }));
  const services = await Promise.all(starts);
  expect(services.filter(({ service }) => service.newKey !== undefined)).toHaveLength(1);

  const accounts = services.map(started => started.get('/me', { key: started.service.sessionKey }));
  expect((await Promise.all(accounts)).map(({ http }) => http)).toEqual([200, 200, 200, 200]);
});

test('two processes that create at once lose no run and no credit', async () => {
  const dataDir = createTemporaryDataDir();
  const key = await createKeyIn(dataDir, { user: 'ann', credits: 1000 });
  const serviceInProcess = await TestService.forTest({ dataDir });
  const servingProcess = await serveInProcess(dataDir);

  const promptVersionId = await serviceInProcess.versionOf('hello');
  const create = async (url: string): Promise<Run> => {
    const answer = await fetch(`${url}/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ promptVersionId, inputs: { textInputs: { name: 'Ann' } } }),
    });
    return ((await answer.json()) as { data: Run }).data;
  };

  const urls = Array.from({ length: CREATIONS_PER_PROCESS }, () => [
    serviceInProcess.service.url,
    servingProcess.url,
  ]).flat();
  const runs = await Promise.all(urls.map(create));

  expect(runs.every(run => run.runStatus === 'succeeded')).toBe(true);

  const listedRunIds = new Set<string>();
  let query = '?limit=50';
  let hasMore = true;
  while (hasMore) {
    const page = await serviceInProcess.data<RunPage>(`/runs${query}`, { key });
    for (const row of page.rows) listedRunIds.add(row.runId);
    hasMore = page.hasMore;
    query = `?limit=50&startingAfter=${page.rows.at(-1)?.runId}`;
  }

  expect([...listedRunIds].sort()).toEqual(runs.map(run => run.runId).sort());
  expect(await serviceInProcess.data('/me/credits', { key })).toEqual({
    credits: 1000 - 2 * CREATIONS_PER_PROCESS,
  });
});

test('a balance is never overdrawn, however many creations come at once', async () => {
  const service = await TestService.forTest();
  const key = await createKeyIn(service.dataDir, { user: 'poor', credits: 5 });
  const promptVersionId = await service.versionOf('hello');
  const body = { promptVersionId, inputs: { textInputs: { name: 'Ann' } } };
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => service.post('/runs', body, { key })),
  );

  expect(answers.filter(answer => answer.http === 200)).toHaveLength(5);
  expect(answers.filter(answer => answer.http === 402)).toHaveLength(7);
  expect(await service.data('/me/credits', { key })).toEqual({ credits: 0 });
});

test('prompts that another process publishes and unpublishes are seen immediately', async () => {
  const service = await TestService.forTest();
  const { promptVersionId } = await service.publish('fresh', 'new');
  expect((await service.get(`/prompt-versions/${promptVersionId}`)).http).toBe(200);
  const store = await storeForTest(service.dataDir);
  expect(await store.unpublish('fresh')).toBe(true);
  expect((await service.get(`/prompt-versions/${promptVersionId}`)).http).toBe(404);
});

test('samples that were withdrawn stay withdrawn', async () => {
  const dataDir = createTemporaryDataDir();
  const first = await TestService.forTest({ dataDir });
  const store = await openStoreIn(dataDir);

  expect(await store.unpublish('hello')).toBe(true);

  await store.close();
  await first.close();
  const second = await TestService.forTest({ dataDir });

  await expect(second.find('hello')).rejects.toThrow('not published');
});

test.runIf(isPosix)('the data directory and all that is in it are closed to others', async () => {
  const service = await TestService.forTest();
  const promptVersionId = await service.versionOf('postcard');
  await service.post('/runs', { promptVersionId, inputs: { textInputs: { place: 'Oslo' } } });
  const getMode = (name: string) =>
    (statSync(path.join(service.dataDir, name)).mode & 0o777).toString(8);

  expect(getMode('.')).toBe('700');

  for (const directory of ['media', 'workers']) expect(getMode(directory), directory).toBe('700');

  for (const file of ['promptrun.db', 'promptrun.db-wal', 'promptrun.db-shm']) {
    expect(getMode(file), file).toBe('600');
  }
});
