import path from 'node:path';
import { Kysely } from 'kysely';
import type { Clock } from '../../clock.ts';
import { blobFiles } from '../blob-files.ts';
import { prepareDataDirectory } from '../data-dir.ts';
import { dataDirectoryError } from '../errors.ts';
import { MIGRATED, type Store, storeOn, type WorkerKind } from '../store.ts';
import type { Tables } from '../tables.ts';
import { connect, putStoreAside } from './connect.ts';
import { StoreDialect } from './dialect.ts';
import { workerLocks } from './worker-locks.ts';

export interface SqliteStoreOptions {
  dataDir: string;
  worker?: WorkerKind | undefined;
  clock: Clock;
  newStore?: boolean | undefined;
  onNotice?: ((line: string) => void) | undefined;
}

/**
 * Opens the store of a data directory, making it where there is none.
 *
 * @throws {DataDirectoryError} where the directory or the database in it can't be used
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  try {
    return await open(options);
  } catch (error) {
    throw dataDirectoryError(options.dataDir, error);
  }
}

async function open({
  dataDir,
  worker = 'serve',
  clock,
  newStore = false,
  onNotice,
}: SqliteStoreOptions): Promise<Store> {
  const file = await prepareDataDirectory(dataDir);
  const workers = workerLocks(dataDir, worker, clock);
  if (newStore) {
    const aside = await putStoreAside(file, workers, clock);
    if (aside !== undefined) onNotice?.(`the former store is kept as ${aside}`);
  }
  const { database, migrated } = await connect(file);
  if (migrated) onNotice?.(MIGRATED);
  const db = new Kysely<Tables>({ dialect: new StoreDialect(database) });
  return storeOn({
    db,
    shared: false,
    workers,
    blobs: {
      media: blobFiles(path.join(dataDir, 'media')),
      inputs: blobFiles(path.join(dataDir, 'inputs')),
    },
    async ping() {
      await db.selectFrom('users').select('id').limit(1).execute();
    },
    async close() {
      await db.destroy();
      database.close();
    },
  });
}
