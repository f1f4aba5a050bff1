import type { Db, Writer } from './writer.ts';

/** Settings of the store, each written once. */
export type SettingsStore = ReturnType<typeof settingsStore>;

export function settingsStore(db: Db, writer: Writer) {
  return {
    get: (key: string) => readSetting(db, key),
    /** Returns the value of `key`. If it has none, stores the result of `make`, with `made` true. */
    async once(key: string, make: () => string) {
      const stored = await readSetting(db, key);
      if (stored !== undefined) return { value: stored, made: false };
      return await writer.write(async db => {
        const value = make();
        const { numInsertedOrUpdatedRows } = await db
          .insertInto('settings')
          .values({ key, value })
          .onConflict(conflict => conflict.column('key').doNothing())
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows === 1n) return { value, made: true };
        return { value: (await readSetting(db, key)) ?? value, made: false };
      });
    },
  };
}

async function readSetting(db: Db, key: string): Promise<string | undefined> {
  const row = await db.selectFrom('settings').select('value').where('key', '=', key).executeTakeFirst();
  return row?.value;
}
