import path from 'node:path';
import { Kysely } from 'kysely';
import { blobFiles } from '../blobs/blob-files.ts';
import { buildStore, MIGRATED, type Store, type StoreOptions } from '../store.ts';
import type { Tables } from '../tables.ts';
import { connectDatabase, putStoreAside } from './connect-database.ts';
import { storeDialect } from './dialect.ts';
import { workerLocks } from './worker-locks.ts';

/** Opens the SQLite store in the data directory, and creates it if it doesn't exist. */
export async function openSqliteStore(
  file: string,
  { dataDir, worker = 'serve', clock, newStore = false, onNotice, onQuery }: StoreOptions,
): Promise<Store> {
  const workers = workerLocks(dataDir, worker, clock);
  if (newStore) {
    const aside = await putStoreAside(file, workers, clock);
    if (aside !== undefined) onNotice?.(`the former store is kept as ${aside}`);
  }
  const { database, migrated, log } = await connectDatabase(file);
  if (migrated) onNotice?.(MIGRATED);
  const db = new Kysely<Tables>({
    dialect: storeDialect(database),
    ...(onQuery && { log: event => onQuery(event.queryDurationMillis) }),
  });
  return buildStore({
    db,
    shared: false,
    workers,
    flush: log && (() => log.flush()),
    blobs: {
      media: blobFiles(path.join(dataDir, 'media')),
      inputs: blobFiles(path.join(dataDir, 'inputs')),
      texts: blobFiles(path.join(dataDir, 'texts')),
    },
    async close() {
      await db.destroy();
      await log?.close();
      database.close();
    },
  });
}
