import { Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSqlite, type SqliteDatabase } from '../../../src/service/store/sqlite/binding.ts';
import { createStoreDialect } from '../../../src/service/store/sqlite/dialect.ts';
import type { Tables } from '../../../src/service/store/tables.ts';
import { type Db, Writer } from '../../../src/service/store/writer.ts';

let database: SqliteDatabase;
let db: Db;
let writer: Writer;

beforeEach(async () => {
  database = await openSqlite(':memory:');
  database.exec('create table settings (key text primary key, value text not null)');
  db = new Kysely<Tables>({ dialect: createStoreDialect(database) });
  writer = new Writer(db, { sharesTransactions: true });
});

afterEach(() => database.close());

const insertKey = (key: string) => (db: Db) =>
  db.insertInto('settings').values({ key, value: 'x' }).execute();

const listKeys = async () =>
  (await db.selectFrom('settings').select('key').orderBy('key').execute()).map(row => row.key);

describe('the writer', () => {
  test('undoes only a failing write, all of it, and reports it only to its caller', async () => {
    const insertTwoKeys = async (db: Db): Promise<void> => {
      await insertKey('half')(db);
      await insertKey('a')(db);
    };

    const results = await Promise.allSettled([
      writer.write(insertKey('a')),
      writer.write(insertTwoKeys),
      writer.write(insertKey('z')),
    ]);
    expect(results.map(result => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await listKeys()).toEqual(['a', 'z']);
  });

  test('reports the fault of a transaction that the database ended, and continues', async () => {
    database.exec(
      "create trigger full before insert on settings when new.key = 'full' begin select raise(rollback, 'full'); end",
    );
    await expect(writer.write(insertKey('full'))).rejects.toThrow('full');
    await writer.write(insertKey('b'));
    expect(await listKeys()).toEqual(['b']);
  });

  test('is idle only once all writes have ended, including those added meanwhile', async () => {
    let hasWrittenLast = false;
    const writing = async (): Promise<void> => {
      await writer.write(insertKey('a'));
      await writer.write(insertKey('b'));
      hasWrittenLast = true;
    };

    void writing();
    await writer.waitForIdle();
    await Promise.resolve();

    expect(hasWrittenLast).toBe(true);
  });
});
