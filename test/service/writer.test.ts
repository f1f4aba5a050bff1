import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Db } from '../../src/service/store/queries.ts';
import { openSqlite, type SqliteDatabase } from '../../src/service/store/sqlite/binding.ts';
import { sqliteKysely } from '../../src/service/store/sqlite/dialect.ts';
import { GroupWriter } from '../../src/service/store/sqlite/group-writer.ts';
import type { Tables } from '../../src/service/store/tables.ts';

let database: SqliteDatabase;
/** Transactions so far. */
let begun: number;
let db: Db;
let writer: GroupWriter;

beforeEach(async () => {
  database = await openSqlite(':memory:');
  database.exec('create table settings (key text primary key, value text not null)');
  begun = 0;
  const counted: SqliteDatabase = {
    prepare: sql => {
      const statement = database.prepare(sql);
      const run: typeof statement.run = (...values) => {
        if (sql === 'begin immediate') begun += 1;
        return statement.run(...values);
      };
      return { run, all: (...values) => statement.all(...values) };
    },
    exec: sql => database.exec(sql),
    close: () => database.close(),
  };
  db = sqliteKysely<Tables>(counted);
  writer = new GroupWriter(db, counted);
});
afterEach(() => database.close());

const put = (key: string) => (db: Db) => db.insertInto('settings').values({ key, value: 'x' }).execute();
const keys = async () =>
  (await db.selectFrom('settings').select('key').orderBy('key').execute()).map(row => row.key);

describe('the writer', () => {
  test('puts writes that come together into one transaction, in order', async () => {
    await Promise.all(['a', 'b', 'c'].map(key => writer.write(put(key))));
    expect(await keys()).toEqual(['a', 'b', 'c']);
    expect(begun).toBe(1);
  });

  test('undoes a failing write alone, whole, and tells only its caller', async () => {
    const half = async (db: Db): Promise<void> => {
      await put('half')(db);
      await put('a')(db);
    };
    const results = await Promise.allSettled([
      writer.write(put('a')),
      writer.write(half),
      writer.write(put('z')),
    ]);
    expect(results.map(result => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await keys()).toEqual(['a', 'z']);
  });

  test('goes on after a transaction that could not be begun', async () => {
    database.exec('begin');
    await expect(writer.write(put('a'))).rejects.toThrow('within a transaction');
    database.exec('rollback');
    await writer.write(put('b'));
    expect(await keys()).toEqual(['b']);
  });

  test('goes on after a transaction that the database ended by itself', async () => {
    database.exec(
      "create trigger full before insert on settings when new.key = 'full' begin select raise(rollback, 'full'); end",
    );
    const results = await Promise.allSettled([writer.write(put('a')), writer.write(put('full'))]);
    expect(results.map(result => result.status)).toEqual(['rejected', 'rejected']);
    await writer.write(put('b'));
    expect(await keys()).toEqual(['b']);
  });

  test('idle waits for everything, also for what is added meanwhile', async () => {
    const later = writer.write(put('a')).then(() => writer.write(put('b')));
    await writer.idle();
    await later;
    await writer.idle();
    expect(await keys()).toEqual(['a', 'b']);
  });

  test('a reader between two writes sees the first', async () => {
    await writer.write(put('a'));
    const [seen] = await Promise.all([keys(), writer.write(put('b'))]);
    expect(seen).toEqual(['a']);
  });
});
