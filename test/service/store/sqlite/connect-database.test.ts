import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { serviceClock } from '../../../../src/service/core/clock.ts';
import { connectDatabase } from '../../../../src/service/store/sqlite/connect-database.ts';
import { openSqliteStore } from '../../../../src/service/store/sqlite/open-sqlite-store.ts';
import { createTemporaryDirectory } from '../../../support/context.ts';

/** Makes each flush to disk wait. Returns the functions that end the flushes, in order. */
function holdFlushes(): ((error: NodeJS.ErrnoException | null) => void)[] {
  const held: ((error: NodeJS.ErrnoException | null) => void)[] = [];
  vi.spyOn(fs, 'fdatasync').mockImplementation((_, callback) => void held.push(callback));
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });

  return held;
}

async function openStore() {
  const dataDir = createTemporaryDirectory();
  const store = await openSqliteStore(path.join(dataDir, 'promptrun.db'), {
    dataDir,
    clock: serviceClock,
  });
  onTestFinished(() => store.close());
  return store;
}

it('writes past the cache of the disk on macOS too', async () => {
  const { database, log } = await connectDatabase(
    path.join(createTemporaryDirectory(), 'promptrun.db'),
  );
  const settings = ['synchronous', 'fullfsync'].map(name =>
    database.prepare(`pragma ${name}`).all(),
  );
  await log?.close();
  database.close();
  expect(settings).toEqual([[{ synchronous: 1 }], [{ fullfsync: 1 }]]);
});

it('reports a write only once it is on disk, and shares a flush between those that wait', async () => {
  const store = await openStore();
  const held = holdFlushes();

  const done: string[] = [];
  const write = async (key: string): Promise<void> => {
    await store.settings.getOrCreate(key, () => 'x');
    done.push(key);
  };

  const first = write('a');
  await expect.poll(() => held.length).toBe(1);

  const others = ['b', 'c', 'd'].map(write);

  // They are committed while the disk is busy.
  await expect.poll(() => store.settings.get('d')).toBe('x');
  expect(done).toEqual([]);

  held[0]?.(null);
  await expect.poll(() => held.length).toBe(2);
  expect(done).toEqual(['a']);

  held[1]?.(null);
  await Promise.all([first, ...others]);

  expect(done).toEqual(['a', 'b', 'c', 'd']);
});

it('reports a disk that cannot be written', async () => {
  const store = await openStore();
  const held = holdFlushes();
  const written = store.settings.getOrCreate('a', () => 'x');
  await expect.poll(() => held.length).toBe(1);
  held[0]?.(new Error('the disk is gone'));
  await expect(written).rejects.toThrow('the disk is gone');
});
