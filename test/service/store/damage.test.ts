import {
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { openStore, startService } from '../../../src/service/index.ts';
import { openSqlite } from '../../../src/service/store/sqlite/binding.ts';
import type { RunPage } from '../../../src/wire/index.ts';
import { createTemporaryDataDir, TestService } from '../../support/local-service.ts';

let dataDir: string;
let file: string;

beforeEach(async () => {
  dataDir = createTemporaryDataDir();
  file = path.join(dataDir, 'promptrun.db');
  const service = await TestService.start({ dataDir });
  const promptVersionId = await service.versionOf('hello');
  await service.post('/runs', { promptVersionId, inputs: { textInputs: { name: 'Ann' } } });
  await service.close();

  // Everything is in the file itself, as it is once a log has grown for a while.
  const database = await openSqlite(file);
  database.exec('pragma wal_checkpoint(truncate)');
  database.close();
});

/**
 * Windows can't remove a file that is open, as a database stays on Node 20 in the process of its
 * test.
 */
const testUnlessWindows = test.skipIf(process.platform === 'win32');

const startOnStore = () => startService({ dataDir, env: {} });

describe('a damaged store is reported, with what to do, and stays unchanged', () => {
  async function expectRefusal(reason: string): Promise<void> {
    const before = existsSync(file) ? readFileSync(file) : undefined;
    for (const open of [startOnStore, () => openStore({ dataDir })]) {
      const opening = open();
      await expect(opening).rejects.toMatchObject({ code: 'UNUSABLE_STORE' });
      await expect(opening).rejects.toThrow(`the store ${file} is damaged: ${reason}`);
      await expect(opening).rejects.toThrow('promptrun serve --new-store');
    }
    expect(existsSync(file) ? readFileSync(file) : undefined).toEqual(before);
  }

  test('if the file is empty', async () => {
    truncateSync(file, 0);
    await expectRefusal('it is empty');
  });

  test('if it is not a database', async () => {
    writeFileSync(file, 'not a database, '.repeat(100));
    await expectRefusal('file is not a database');
  });

  test('if its end is missing', async () => {
    truncateSync(file, statSync(file).size - 3 * 4096);
    await expectRefusal('');
  });

  test('if pages in its middle hold something else', async () => {
    const bytes = readFileSync(file);
    bytes.fill(0x5a, 4096, 3 * 4096);
    writeFileSync(file, bytes);
    await expectRefusal('');
  });

  testUnlessWindows('if it is the database of another program', async () => {
    unlinkSync(file);
    const other = await openSqlite(file);
    other.exec('create table songs (title text); pragma user_version = 7');
    other.close();
    await expectRefusal('it is the database of another program');
  });

  testUnlessWindows('if only its log is left', async () => {
    unlinkSync(file);
    writeFileSync(`${file}-wal`, 'frames');
    await expectRefusal('it is missing');
  });
});

describe('a new store', () => {
  testUnlessWindows('is started next to a damaged one, which is kept', async () => {
    truncateSync(file, 100);
    const service = await TestService.forTest({ dataDir, newStore: true });
    const aside =
      (await readdir(dataDir)).find(name => /^promptrun-aside-.*\.db$/.test(name)) ?? '';

    expect(statSync(path.join(dataDir, aside)).size).toBe(100);
    expect(service.notices.join()).toContain(path.join(dataDir, aside));
    expect(service.service.newKey).toBeDefined();
    expect(await service.data<RunPage>('/runs')).toEqual({ rows: [], hasMore: false });
  });

  test('is not started while a process uses the old one', async () => {
    const service = await TestService.forTest({ dataDir });
    await expect(startService({ dataDir, env: {}, newStore: true })).rejects.toThrow(
      'in use by another process',
    );
    expect(await service.data<RunPage>('/runs')).toMatchObject({ rows: [{}] });
  });

  test('can be started if there is none', async () => {
    const emptyDataDir = createTemporaryDataDir();
    mkdirSync(emptyDataDir, { mode: 0o700 });
    await TestService.forTest({ dataDir: emptyDataDir, newStore: true });
    expect((await readdir(emptyDataDir)).join()).not.toContain('aside');
  });
});
