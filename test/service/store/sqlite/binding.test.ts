import { afterEach, describe, expect, it, vi } from 'vitest';
import { loadSqlite } from '../../../../src/service/store/sqlite/binding.ts';

/** A double of the SQLite that newer releases of Node have. */
const BUILT_IN = { DatabaseSync: undefined };

async function isBuiltIn(sqlite: string | undefined): Promise<boolean> {
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(BUILT_IN);
  const loaded = await loadSqlite({ ...process.versions, ...(sqlite && { sqlite }) });
  return loaded === (BUILT_IN as never);
}

describe('the choice of an SQLite', () => {
  afterEach(() => vi.restoreAllMocks());

  it.each(['3.51.3', '3.53.0', '3.100.0', '4.0.0'])(
    "is Node's own if its version is %s",
    async version => {
      expect(await isBuiltIn(version)).toBe(true);
    },
  );

  it.each(['3.47.2', '3.51.2', '3.9.9'])(
    "is the packaged one if Node's version is %s, which can lose commits",
    async version => {
      expect(await isBuiltIn(version)).toBe(false);
    },
  );

  it('is a packaged one whose version loses no commits', async () => {
    const { DatabaseSync } = await loadSqlite({ ...process.versions, sqlite: '3.47.2' });
    const database = new DatabaseSync(':memory:');
    const [row] = database.prepare('select sqlite_version() as version').all() as {
      version: string;
    }[];
    database.close();
    expect(await isBuiltIn(row?.version)).toBe(true);
  });
});
