import path from 'node:path';
import { Kysely } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openStore, withStore } from '../../src/service/local-store.ts';
import { openSqlite } from '../../src/service/store/sqlite/binding.ts';
import { createTemporaryDataDir } from '../support/local-service.ts';

test('run options are checked whatever the case of the id', async () => {
  await withStore({ dataDir: createTemporaryDataDir() }, async store => {
    const { promptVersionId } = await store.ensureUnlistedVersion({ slug: 'hello', model: 'echo' });
    const checking = store.checkRunOptions(promptVersionId.toUpperCase(), { bogus: '1' });
    await expect(checking).rejects.toThrow('is not a run option of the model echo');
  });
});

test("a store is closed again if the samples can't be published into it", async () => {
  const dataDir = createTemporaryDataDir();
  await (await openStore({ dataDir })).close();
  const database = await openSqlite(path.join(dataDir, 'promptrun.db'));
  database.exec(`
    delete from settings where key = 'samplesSeeded';
    create trigger full before insert on settings begin select raise(abort, 'database or disk is full'); end`);
  database.close();
  const closeDatabase = vi.spyOn(Kysely.prototype, 'destroy');
  onTestFinished(() => closeDatabase.mockRestore());

  await expect(openStore({ dataDir })).rejects.toThrow('database or disk is full');
  expect(closeDatabase).toHaveBeenCalledTimes(1);
});
