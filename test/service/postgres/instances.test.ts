import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService } from '../../../src/service/index.ts';
import type { Run, RunPage } from '../../../src/wire/index.ts';
import { temporaryDirectory } from '../../support/context.ts';
import {
  type PostgresCluster,
  postgresPrograms,
  startPostgres,
} from '../../support/databases/postgres.ts';
import {
  createAt,
  createAuthorKey,
  createUserKeys,
  slowRun,
  TAKEN_OVER_MS,
} from '../../support/databases/runs-on-database.ts';
import { makeDatabase } from '../../support/databases/test-database.ts';
import { TestService, temporaryDataDir } from '../../support/local-service.ts';
import { png } from '../../support/pictures.ts';
import { serveInProcess } from '../../support/serving-process.ts';

describe.skipIf(postgresPrograms() === undefined)('several instances on one database', () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await startPostgres();
  });
  afterAll(() => cluster?.remove());

  const start = (database: string, options: Parameters<typeof TestService.start>[0] = {}) =>
    TestService.start({ dataDir: temporaryDataDir(), database, ...options });

  test('start at once on a fresh one: one makes it and prints the key, all know the key', async () => {
    const database = await makeDatabase(cluster.url, 'fresh');
    const all = await Promise.all([start(database), start(database), start(database)]);
    const keys = all.flatMap(({ service }) => service.newKey ?? []);
    expect(keys).toHaveLength(1);
    for (const service of all) expect((await service.get('/me', { key: keys[0] })).http).toBe(200);
    await Promise.all(all.map(service => service.close()));
  });

  test('share prompts, runs, media, credits and idempotency keys', async () => {
    const database = await makeDatabase(cluster.url, 'shared');
    const one = await start(database);
    const { key } = one;
    const two = await start(database);
    const postcard = await one.versionOf('postcard');
    const headers = { 'idempotency-key': 'k' };
    const body = { promptVersionId: postcard, inputs: { textInputs: { place: 'Oslo' } } };
    const [first, second] = await Promise.all([
      one.post<Run>('/runs', body, { key, headers }),
      two.post<Run>('/runs', body, { key, headers }),
    ]);
    const made = first.data.runId;

    expect(second.data.runId).toBe(made);

    const [here, there] = await Promise.all(
      [one, two].map(at => at.data<Run>(`/runs/${made}`, { key })),
    );
    const url = new URL(there?.outputs[0]?.data ?? '');

    expect(url.origin).toBe(new URL(two.service.url).origin);

    const picture = await fetch(url);
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect((await picture.arrayBuffer()).byteLength).toBe(
      Number(picture.headers.get('content-length')),
    );
    expect(url.pathname).toBe(new URL(here?.outputs[0]?.data ?? '').pathname);
    expect(await two.data('/me/credits', { key })).toEqual({ credits: 1_000_000 - 4 });

    await Promise.all([one.close(), two.close()]);
  });

  describe('creations of several users at once', () => {
    const HELLO = { inputs: { textInputs: { name: 'Ada' } } };

    test('take from each user what is theirs, and are refused each for itself', async () => {
      const database = await makeDatabase(cluster.url, 'together');
      const service = await start(database);
      const body = { promptVersionId: await service.versionOf('hello'), ...HELLO };
      const keys = await createUserKeys(database, { rich: 100, scant: 3, poor: 0 });
      const users = [keys.rich, keys.scant, keys.poor].flatMap(key => Array<string>(8).fill(key));
      const answers = await Promise.all(
        users.map(key => service.post<Run>('/runs', body, { key })),
      );
      const made = (from: number): number =>
        answers.slice(from, from + 8).filter(({ http }) => http === 200).length;

      expect([made(0), made(8), made(16)]).toEqual([8, 3, 0]);
      expect(new Set(answers.map(({ http }) => http))).toEqual(new Set([200, 402]));

      for (const [key, credits] of [[keys.rich, 92] as const, [keys.scant, 0] as const]) {
        expect(await service.data('/me/credits', { key })).toEqual({ credits });
        const { rows } = await service.data<RunPage>('/runs', { key });
        expect(rows.length).toBe(key === keys.rich ? 8 : 3);
      }

      await service.close();
    });

    test('do not wait for a user whom somebody has locked in the database', async () => {
      const database = await makeDatabase(cluster.url, 'locked');
      const service = await start(database);
      const body = { promptVersionId: await service.versionOf('hello'), ...HELLO };
      const { ada, bob } = await createUserKeys(database, { ada: 10, bob: 10 });
      const client = new pg.Client(database);
      await client.connect();
      await client.query(`begin; select from users where name = 'bob' for update`);
      const [locked, free] = [bob, ada].map(key => service.post<Run>('/runs', body, { key }));
      const late = free?.then(() => service.post<Run>('/runs', body, { key: ada }));

      expect([(await free)?.http, (await late)?.http]).toEqual([200, 200]);
      expect((await service.data<RunPage>('/runs', { key: bob })).rows).toEqual([]);

      await client.query('commit');
      expect((await locked)?.http).toBe(200);

      await client.end();
      await service.close();
    });
  });

  test('carry out a queued run on whichever is free, and its caller gets the end at once', async () => {
    const database = await makeDatabase(cluster.url, 'queue');
    const busy = await start(database, { parallel: 1 });
    const { key } = busy;
    const sandbox = await busy.versionOf('sandbox');
    const first = await keepBusy(busy, key);
    const free = await start(database, { parallel: 4 });
    const second = await busy.post<Run>('/runs', slowRun(sandbox, '0'), { key });

    expect(second.data.runStatus).toBe('succeeded');
    expect(await countRuns(busy, key, 'running')).toBe(1);

    await first.cancel();
    await Promise.all([busy.close(), free.close()]);
  });

  test('keep media and inputs in a directory that they share, and find what the database kept before', async () => {
    const database = await makeDatabase(cluster.url, 'files');
    const before = await start(database);
    const { key } = before;
    const card = {
      promptVersionId: await before.versionOf('postcard'),
      inputs: { textInputs: { place: 'Oslo' } },
    };
    const early = await before.post<Run>('/runs', card, { key });
    await before.close();

    const mediaDir = temporaryDirectory();
    const one = await start(database, { mediaDir, parallel: 1 });
    const busy = await keepBusy(one, key);

    // Taken up by the other, which has the picture from the directory.
    const images = [{ type: 'base64', base64: png(3, 2).toString('base64') }];
    const seen = {
      promptVersionId: await one.versionOf('describe'),
      inputs: { imageInputs: images },
    };
    const described = one.post<Run>('/runs', seen, { key });

    await expect.poll(() => readdirSync(path.join(mediaDir, 'inputs'))).toHaveLength(1);

    const two = await start(database, { mediaDir, parallel: 4 });
    expect((await described).data.outputs[0]?.data).toContain('PNG image, 3 × 2 pixels');

    const late = await two.post<Run>('/runs', card, { key });
    expect(readdirSync(path.join(mediaDir, 'media'))).toHaveLength(1);

    for (const { data } of [early, late]) {
      const shown = await one.data<Run>(`/runs/${data.runId}`, { key });
      expect((await fetch(shown.outputs[0]?.data ?? '')).headers.get('content-type')).toBe(
        'image/png',
      );
    }

    await busy.cancel();
    await Promise.all([one.close(), two.close()]);
  });

  test('start only with the media directory of their database, which others may not write', async () => {
    const database = await makeDatabase(cluster.url, 'directory');
    const mediaDir = temporaryDirectory();
    await (await start(database, { mediaDir })).close();

    await expect(start(database)).rejects.toThrow('give it to this one too, with --media-dir');
    await expect(start(database, { mediaDir: temporaryDirectory() })).rejects.toThrow(
      'is not the one',
    );

    const open = temporaryDirectory();
    chmodSync(open, 0o777);

    await expect(start(database, { mediaDir: open })).rejects.toThrow(`chmod o-w ${open}`);
  });

  test('count the requests of a key together', async () => {
    const database = await makeDatabase(cluster.url, 'rates');
    const options = { rateLimit: 0.01 };
    const one = await start(database, options);
    const two = await start(database, options);

    expect((await one.get('/me', { key: one.key })).http).toBe(200);

    const refused = await two.get('/me', { key: one.key });
    expect(refused.http).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60);

    await Promise.all([one.close(), two.close()]);
  });

  test('grant a key as much together as one of them would', async () => {
    const database = await makeDatabase(cluster.url, 'granted');
    const perSecond = 4;
    const both = [
      await start(database, { rateLimit: perSecond }),
      await start(database, { rateLimit: perSecond }),
    ];
    const [{ key }] = both as [TestService];
    const statuses = new Map(both.map(service => [service, [] as number[]]));
    const granted = () => [...statuses.values()].flat().filter(status => status === 200).length;
    const since = performance.now();

    // Many at once, so that a slow machine asks for more than is granted as well.
    const tries = Array.from({ length: 10 });
    while (granted() < 1.5 * perSecond) {
      const asked = [...statuses].flatMap(([service, answers]) =>
        tries.map(async () => answers.push((await service.get('/me', { key })).http)),
      );
      await Promise.all(asked);
    }

    // A burst is what a second grants.
    const seconds = (performance.now() - since) / 1000 + 1;
    expect(granted()).toBeLessThanOrEqual(1.2 * perSecond * seconds);
    expect(new Set([...statuses.values()].flat())).toEqual(new Set([200, 429]));

    for (const answers of statuses.values()) expect(answers).toContain(429);
    await Promise.all(both.map(service => service.close()));
  });

  test('carry out the runs of one that is killed, each once, and paid for once', async () => {
    const database = await makeDatabase(cluster.url, 'killed');
    const dataDir = temporaryDataDir();
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const program = [process.execPath, '-e', 'setInterval(() => {}, 1000)'];
    const models = [{ model: 'bot', modality: 'text', program }];
    writeFileSync(path.join(dataDir, 'models.yaml'), JSON.stringify({ models }));
    const flags = ['--database', database, '--sync-window', '0s', '--allow-programs'];
    const doomed = await serveInProcess(dataDir, ...flags);
    const heir = await start(database);
    const key = await createAuthorKey(database);
    const published = await fetch(`${doomed.url}/prompts/bot`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ file: '---\nmodel: bot\n---\nHello\n' }),
    });
    const { data: bot } = (await published.json()) as { data: { promptVersionId: string } };
    const sandbox = await heir.versionOf('sandbox');
    const botRunId = await createAt(doomed, key, {
      promptVersionId: bot.promptVersionId,
      inputs: {},
    });
    const runId = await createAt(doomed, key, slowRun(sandbox, '5'));
    await doomed.kill();

    await expect
      .poll(async () => (await heir.data<Run>(`/runs/${runId}`, { key })).runStatus, {
        timeout: TAKEN_OVER_MS,
        interval: 250,
      })
      .toBe('succeeded');

    // No program is started twice, and the heir doesn't even have it.
    const botRun = await heir.data<Run>(`/runs/${botRunId}`, { key });
    expect([botRun.runStatus, botRun.outputs[0]?.data]).toEqual([
      'failed',
      expect.stringContaining('stopped by the end of its service'),
    ]);
    expect(await heir.data('/me/credits', { key })).toEqual({ credits: 999_999 });

    await heir.close();
  });

  test("can't start without the database, and the error names the host, not the password", async () => {
    const dataDir = temporaryDataDir();
    const at = (database: string) => startService({ dataDir, env: {}, database });
    const refused = at('postgres://ann:sekret@127.0.0.1:1/team');

    await expect(refused).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    await expect(refused).rejects.toThrow("the database 127.0.0.1:1/team can't be used");
    await expect(refused).rejects.not.toThrow('sekret');

    const wrong = at('mysql://ann:sekret@127.0.0.1/team');
    await expect(wrong).rejects.toMatchObject({ code: 'INVALID_DATABASE_URL' });
    await expect(wrong).rejects.not.toThrow('sekret');
  });
});

/** Has a service carry out a run that lasts until it is cancelled. */
async function keepBusy(
  service: TestService,
  key: string,
): Promise<{ cancel: () => Promise<void> }> {
  const created = service.post<Run>('/runs', slowRun(await service.versionOf('sandbox'), '130'), {
    key,
  });
  await expect.poll(() => countRuns(service, key, 'running')).toBe(1);
  const [run] = (await service.data<RunPage>('/runs?status=running', { key })).rows;

  return {
    async cancel() {
      await service.post(`/runs/${run?.runId}/cancel`, undefined, { key });
      expect((await created).data).toMatchObject({
        runStatus: 'failed',
        outputs: [{ data: 'cancelled' }],
      });
    },
  };
}

async function countRuns(service: TestService, key: string, status: string): Promise<number> {
  return (await service.data<RunPage>(`/runs?status=${status}`, { key })).rows.length;
}
