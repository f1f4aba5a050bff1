import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startService } from '../../src/service/index.ts';
import { withStore } from '../../src/service/local-store.ts';
import { healthRoutes } from '../../src/service/routes/health.ts';
import { openSqlite } from '../../src/service/store/sqlite/binding.ts';
import type { Run } from '../../src/wire/index.ts';
import { runCommand } from '../support/command.ts';
import { createTemporaryDirectory } from '../support/context.ts';
import { buildCommandEnvironment } from '../support/environment.ts';
import { findFreePort } from '../support/free-port.ts';
import { HandClock } from '../support/hand-clock.ts';
import { createTemporaryDataDir, TestService } from '../support/local-service.ts';
import { png } from '../support/png.ts';
import { isPosix } from '../support/system.ts';

/** Creates the store of a data directory, as a first start does. */
async function createStore(dataDir: string): Promise<void> {
  await (await TestService.start({ dataDir })).close();
}

describe("a start with a data directory that can't be used fails and says what to do", () => {
  const start = (dataDir: string) => startService({ dataDir, env: {} });

  test("if the directory can't be created", async () => {
    const file = createTemporaryDataDir();
    writeFileSync(file, '');
    const dataDir = path.join(file, 'below');
    await expect(start(dataDir)).rejects.toThrow(`the data directory ${dataDir} can't be used: `);
    await expect(start(dataDir)).rejects.toThrow('set PROMPTRUN_DATA_DIR to another directory');
  });

  test.runIf(isPosix)('if nothing can be written there', async () => {
    await expect(start('/proc/promptrun')).rejects.toThrow("/proc/promptrun can't be used: ");
  });

  test('if its database has a later version', async () => {
    const dataDir = createTemporaryDataDir();
    await createStore(dataDir);
    const database = await openSqlite(path.join(dataDir, 'promptrun.db'));
    database.exec('pragma user_version = 99');
    database.close();
    await expect(start(dataDir)).rejects.toThrow('was written by a newer promptrun');
  });
});

test('a store of an older version is upgraded, and a notice says so', async () => {
  const dataDir = createTemporaryDataDir();
  await createStore(dataDir);
  const database = await openSqlite(path.join(dataDir, 'promptrun.db'));
  database.exec(`
    alter table runs drop column warnings;
    alter table "runUsage" drop column answers;
    drop index "runsInProgressByUser";
    alter table runs drop column "textBytes";
    alter table runs drop column "endedAt";
    drop table labels;
    drop table "labelMoves";
    pragma user_version = 7`);

  database.close();
  const service = await TestService.forTest({ dataDir });

  expect(service.notices.join()).toContain('written by an older promptrun');

  await service.close();
  const restarted = await TestService.forTest({ dataDir });
  expect(restarted.notices).toEqual([]);
});

test('a start that a full disk ends leaves no service listening', async () => {
  const dataDir = createTemporaryDataDir();
  await createStore(dataDir);
  const database = await openSqlite(path.join(dataDir, 'promptrun.db'));
  database.exec(`
    delete from settings where key = 'firstKeyMade';
    create trigger full before insert on settings begin select raise(abort, 'database or disk is full'); end`);
  database.close();
  const port = await findFreePort();
  const starting = startService({ dataDir, port, env: {} });

  await expect(starting).rejects.toMatchObject({ code: 'DISK_FULL' });
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow('fetch failed');
});

test('the start after one that could not create the first key creates it', async () => {
  const dataDir = createTemporaryDataDir();
  await createStore(dataDir);
  const database = await openSqlite(path.join(dataDir, 'promptrun.db'));
  database.exec(`
    delete from settings where key = 'firstKeyMade';
    create trigger full before insert on keys begin select raise(abort, 'database or disk is full'); end`);
  await expect(startService({ dataDir, env: {} })).rejects.toMatchObject({ code: 'DISK_FULL' });

  database.exec('drop trigger full');
  database.close();
  const { service } = await TestService.forTest({ dataDir });
  expect(service.newKey).toBeDefined();
});

test('a command that stores a prompt names a full disk', async () => {
  const dataDir = createTemporaryDataDir();
  await createStore(dataDir);
  const database = await openSqlite(path.join(dataDir, 'promptrun.db'));
  database.exec(
    `create trigger full before insert on prompts begin select raise(abort, 'database or disk is full'); end`,
  );
  database.close();
  const file = path.join(dataDir, 'new.prompt');
  writeFileSync(file, '---\nmodel: echo\n---\nHello\n');

  await expect(withStore({ dataDir }, store => store.publish(file))).rejects.toMatchObject({
    code: 'DISK_FULL',
    message: expect.stringContaining('free space on it'),
  });
});

test('/readyz asks the store, and fails if the store does not answer soon', async () => {
  const clock = new HandClock();
  const ready = healthRoutes.find(({ path }) => path === '/readyz');
  const ask = (ping: () => Promise<void>): Promise<unknown> =>
    ready?.handle(
      { store: { ping }, clock, draining: new AbortController().signal } as never,
      {} as never,
    ) ?? Promise.resolve();

  expect(await ask(() => Promise.resolve())).toBeNull();
  await expect(ask(() => Promise.reject(new Error('gone')))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });

  const lateAnswer = ask(() => new Promise(() => {}));
  clock.advance(1500);

  await expect(lateAnswer).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test.each([
  { flag: '--port', createOptions: (port: number) => ({ port }) },
  {
    flag: '--metrics',
    createOptions: (port: number) => ({ port: 0, metricsAddress: { host: '127.0.0.1', port } }),
  },
])('a port of $flag that is in use is named, with what to do', async ({ flag, createOptions }) => {
  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await new Promise(resolve => other.once('listening', resolve));
  const { port } = other.address() as { port: number };

  await expect(
    startService({ dataDir: createTemporaryDataDir(), ...createOptions(port), env: {} }),
  ).rejects.toThrow(
    `can't listen on 127.0.0.1:${port}: the port is in use; choose another one with ${flag}, or 0`,
  );
});

describe('a disk that is full while the service runs', () => {
  const fullDisk = (dataDir: string): string =>
    `the disk of the data directory ${dataDir} is full (database or disk is full); free space on it`;

  /** Fills the disk for the database of a running service. Returns a function that makes room. */
  async function fillDisk(dataDir: string): Promise<() => void> {
    const database = await openSqlite(path.join(dataDir, 'promptrun.db'));
    database.exec(`
      create trigger fullRuns before insert on runs begin select raise(abort, 'database or disk is full'); end;
      create trigger fullUpdates before update on runs begin select raise(abort, 'database or disk is full'); end`);
    return () => {
      database.exec('drop trigger fullRuns; drop trigger fullUpdates');
      database.close();
    };
  }

  test('creations are answered 500 and cost nothing, reading continues, and it recovers', async () => {
    const service = await TestService.forTest();
    const promptVersionId = await service.versionOf('hello');
    const body = { promptVersionId, inputs: { textInputs: { name: 'Ann' } } };
    const creditsBefore = await service.data('/me/credits');
    const makeRoom = await fillDisk(service.dataDir);

    expect(await service.post('/runs', body)).toMatchObject({
      http: 500,
      status: 'SERVER_ERROR',
      message: "the service can't use its store: database or disk is full",
      data: null,
    });

    expect(await service.data('/runs')).toEqual({ rows: [], hasMore: false });
    expect(await service.data('/me/credits')).toEqual(creditsBefore);
    expect(service.notices).toContain(`fault: ${fullDisk(service.dataDir)}`);

    makeRoom();
    expect((await service.post('/runs', body)).http).toBe(200);
  });

  test('a run that ends meanwhile keeps its result until there is room', async () => {
    const clock = new HandClock();
    const service = await TestService.forTest({ clock });
    const promptVersionId = await service.versionOf('sandbox');
    const creation = service.post<Run>('/runs', {
      promptVersionId,
      inputs: {},
      runOptions: { delaySeconds: '5' },
    });

    await clock.waitForSleep(5000);
    const makeRoom = await fillDisk(service.dataDir);
    clock.advance(5000);
    await clock.waitForSleep(250);
    makeRoom();
    clock.advance(250);

    expect((await creation).data.runStatus).toBe('succeeded');
    expect(service.notices).toContain(
      `an answer waits in memory until it can be stored: ${fullDisk(service.dataDir)}`,
    );
  });
});

test.runIf(process.platform !== 'win32')(
  'a file system that takes no more bytes stops no service',
  async () => {
    // A limit on the size of files, with the signal for it ignored, makes every write beyond it
    // fail as a full disk does.
    const script = path.resolve(import.meta.dirname, '../support/limited-service.sh');

    // Unpacks the SQLite of older Nodes, which is larger than that.
    expect((await runCommand(['runs', 'list'])).code).toBe(0);

    const env = buildCommandEnvironment(createTemporaryDirectory());
    const log = execFileSync('bash', [script, createTemporaryDataDir()], { encoding: 'utf8', env });
    const statuses = log.trim().split('\n');

    expect(statuses[0]).toBe('POST 200');
    expect(statuses).toContain('POST 500 SERVER_ERROR');
    expect(statuses.at(-1)).toBe('GET 200');
  },
);

const mountsDisks = spawnSync('bash', ['-c', 'unshare -rm mount -t tmpfs tmpfs /mnt']).status === 0;

test.runIf(mountsDisks)('a full disk is named with exit 1, and a picture waits for room', () => {
  const script = path.resolve(import.meta.dirname, '../support/full-disk.sh');
  const disk = createTemporaryDataDir();
  const log = execFileSync('bash', ['-c', `unshare -rm bash ${script} ${disk}`], {
    encoding: 'utf8',
  });
  const full = 'ENOSPC: no space left on device, write';

  expect(log.trim().split('\n')).toEqual([
    `note: an answer waits in memory until it can be stored: the disk of ${disk}/data/media is full (${full}); free space on it`,
    'exit 0, 2 pictures',
    `error: the run was not started, because the journal ${disk}/new/journal.jsonl can't be written: ${full} (FILE_ERROR)`,
    'Free some disk space, or set PROMPTRUN_STATE_DIR to another directory.',
    'exit 1',
    `error: the journal ${disk}/new/comparisons/<id>.jsonl can't be written: ${full} (FILE_ERROR)`,
    'Free some disk space, or set PROMPTRUN_STATE_DIR to another directory.',
    'No more runs were started. Free some disk space.',
    `error: ${disk}/.config/promptrun/config.json.lock can't be written: ${full} (FILE_ERROR)`,
    'Free some disk space, or choose another place with PROMPTRUN_CONFIG_DIR.',
    'exit 1',
  ]);
});

test('a run whose pictures were lost fails and says so', async () => {
  const clock = new HandClock();
  const dataDir = createTemporaryDataDir();
  const service = await TestService.forTest({ clock, dataDir, maxConcurrentRuns: 1 });
  const [sandbox, describePicture] = [
    await service.versionOf('sandbox'),
    await service.versionOf('describe'),
  ];
  const first = service.post('/runs', {
    promptVersionId: sandbox,
    inputs: {},
    runOptions: { delaySeconds: '5' },
  });

  await clock.waitForSleep(5000);
  const image = { type: 'base64', base64: png(2, 2).toString('base64') };
  const second = service.post<Run>('/runs', {
    promptVersionId: describePicture,
    inputs: { imageInputs: [image] },
  });
  await clock.waitForSleep(120_000, 2);
  rmSync(path.join(dataDir, 'inputs'), { recursive: true });
  clock.advance(5000);
  await first;

  expect((await second).data).toMatchObject({ runStatus: 'failed', outputs: [{ type: 'error' }] });
});
