import path from 'node:path';
import { Kysely, PostgresDialect } from 'kysely';
import { DataDirectoryError } from '../../../files/data-directory.ts';
import { createBlobFiles } from '../blobs/blob-files.ts';
import { type BlobCollection, type Blobs, createLayeredBlobs } from '../blobs/blobs.ts';
import { buildStore, MIGRATED_NOTICE, type Store, type StoreOptions } from '../store.ts';
import { DatabaseUnavailableError, DatabaseUrlError } from '../store-errors.ts';
import type { Tables } from '../tables.ts';
import { createBlobRows } from './blob-rows.ts';
import { explainDatabaseFault } from './database-faults.ts';
import { readDatabaseUrl } from './database-url.ts';
import { LeasedWorkers } from './leased-workers.ts';
import { migratePostgres } from './migrate.ts';
import { createDatabasePool } from './pool.ts';
import { createRunWrites } from './run-writes.ts';
import { createSharedRateLimiter } from './shared-rate-limiter.ts';

/**
 * Opens the store in a PostgreSQL database, and creates or migrates its tables.
 *
 * @throws {DatabaseUrlError} for a URL that is not PostgreSQL's
 * @throws {DatabaseUnavailableError} if the database can't be reached or its tables can't be
 * created
 */
export async function openPostgresStore(
  url: string,
  { mediaDir, onNotice, onQuery, env }: StoreOptions,
): Promise<Store> {
  const address = readDatabaseUrl(url, env);
  const pool = createDatabasePool(address);

  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    ...(onQuery && { log: event => onQuery(event.queryDurationMillis) }),
  });
  try {
    await pool.check();
    if (await migratePostgres(db)) onNotice?.(MIGRATED_NOTICE);
  } catch (error) {
    await db.destroy();
    if (error instanceof DataDirectoryError || error instanceof DatabaseUrlError) throw error;
    throw new DatabaseUnavailableError(
      `the database ${address.name} can't be used: ${explainDatabaseFault(error)}`,
      {
        cause: error,
      },
    );
  }

  const createBlobs = (collection: BlobCollection): Blobs => {
    const rows = createBlobRows(db, collection);
    return mediaDir === undefined
      ? rows
      : createLayeredBlobs(rows, createBlobFiles(path.join(mediaDir, collection)));
  };

  return buildStore({
    db,
    isShared: true,
    workers: new LeasedWorkers(db),
    createRunWrites,
    blobs: {
      media: createBlobs('media'),
      inputs: createBlobs('inputs'),
      texts: createBlobs('texts'),
    },
    createRateLimiter: perSecond => createSharedRateLimiter(db, perSecond),
    close: () => db.destroy(),
  });
}
