import type { Db, Writer } from './queries.ts';

/** Single values of the store, each written once. */
export interface SettingsStore {
  get(key: string): Promise<string | undefined>;
  /** The value under `key`; `make` gives it when it is first asked for. `made` says whether that was now. */
  once(key: string, make: () => string): Promise<{ value: string; made: boolean }>;
}

export function settingsStore(db: Db, writer: Writer): SettingsStore {
  return {
    get: key => read(db, key),
    async once(key, make) {
      const stored = await read(db, key);
      if (stored !== undefined) return { value: stored, made: false };
      return await writer.write(async db => {
        const value = make();
        const { numInsertedOrUpdatedRows } = await db
          .insertInto('settings')
          .values({ key, value })
          .onConflict(conflict => conflict.column('key').doNothing())
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows === 1n) return { value, made: true };
        return { value: (await read(db, key)) ?? value, made: false };
      });
    },
  };
}

async function read(db: Db, key: string): Promise<string | undefined> {
  const row = await db.selectFrom('settings').select('value').where('key', '=', key).executeTakeFirst();
  return row?.value;
}
