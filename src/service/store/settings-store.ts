import type { Db, Writer } from './writer.ts';

/** Settings of the store, whose values never change. */
export type SettingsStore = ReturnType<typeof createSettingsStore>;

export function createSettingsStore(db: Db, writer: Writer) {
  return {
    get: (key: string) => readSetting(db, key),
    /**
     * Returns the value of `key`. If it has none, stores the result of `create`, with `isNew` true.
     */
    async getOrCreate(key: string, create: () => string) {
      const storedValue = await readSetting(db, key);
      if (storedValue !== undefined) return { value: storedValue, isNew: false };
      return await writer.write(async trx => {
        const value = create();
        const { numInsertedOrUpdatedRows } = await trx
          .insertInto('settings')
          .values({ key, value })
          .onConflict(conflict => conflict.column('key').doNothing())
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows === 1n) return { value, isNew: true };
        return { value: (await readSetting(trx, key)) ?? value, isNew: false };
      });
    },
    remove: (key: string) =>
      writer.write(trx => trx.deleteFrom('settings').where('key', '=', key).execute()),
  };
}

async function readSetting(db: Db, key: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('settings')
    .select('value')
    .where('key', '=', key)
    .executeTakeFirst();
  return row?.value;
}
