import path from 'node:path';
import { Kysely } from 'kysely';
import { createBlobFiles } from '../blobs/blob-files.ts';
import { buildStore, MIGRATED_NOTICE, type Store, type StoreOptions } from '../store.ts';
import type { Tables } from '../tables.ts';
import { connectDatabase, putStoreAside } from './connect-database.ts';
import { createStoreDialect } from './dialect.ts';
import { createLockedWorkers } from './locked-workers.ts';

/** Opens the SQLite store in the data directory, and creates it if it doesn't exist. */
export async function openSqliteStore(
  file: string,
  { dataDir, workerKind = 'serve', clock, newStore = false, onNotice, onQuery }: StoreOptions,
): Promise<Store> {
  const workers = createLockedWorkers(dataDir, workerKind, clock);
  if (newStore) {
    const asideFile = await putStoreAside(file, workers, clock);
    if (asideFile !== undefined) onNotice?.(`the former store is kept as ${asideFile}`);
  }

  const { database, isMigrated, log } = await connectDatabase(file);
  if (isMigrated) onNotice?.(MIGRATED_NOTICE);
  const db = new Kysely<Tables>({
    dialect: createStoreDialect(database),
    ...(onQuery && { log: event => onQuery(event.queryDurationMillis) }),
  });

  return buildStore({
    db,
    isShared: false,
    workers,
    flush: log && (() => log.flush()),
    blobs: {
      media: createBlobFiles(path.join(dataDir, 'media')),
      inputs: createBlobFiles(path.join(dataDir, 'inputs')),
      texts: createBlobFiles(path.join(dataDir, 'texts')),
    },
    async close() {
      await db.destroy();
      await log?.close();
      database.close();
    },
  });
}
