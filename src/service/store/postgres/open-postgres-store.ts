import path from 'node:path';
import { Kysely, PostgresDialect } from 'kysely';
import { DataDirectoryError } from '../../../files/data-directory.ts';
import { blobFiles } from '../blobs/blob-files.ts';
import { type Blobs, blobsAfter, type Collection } from '../blobs/blobs.ts';
import { buildStore, MIGRATED, type Store, type StoreOptions } from '../store.ts';
import { DatabaseUnavailableError, DatabaseUrlError } from '../store-errors.ts';
import type { Tables } from '../tables.ts';
import { blobRows } from './blob-rows.ts';
import { databaseFaultReason } from './database-faults.ts';
import { readDatabaseUrl } from './database-url.ts';
import { LeasedWorkers } from './leases.ts';
import { migratePostgres } from './migrate.ts';
import { connectionPool } from './pool.ts';
import { requestRates } from './request-rates.ts';
import { runWrites } from './run-writes.ts';

/**
 * Opens the store in a PostgreSQL database, and creates or migrates its tables.
 *
 * @throws {DatabaseUrlError} for a URL that is not PostgreSQL's
 * @throws {DatabaseUnavailableError} if the database can't be reached or its tables can't be created
 */
export async function openPostgresStore(
  url: string,
  { mediaDir, onNotice, onQuery, env }: StoreOptions,
): Promise<Store> {
  const address = readDatabaseUrl(url, env);
  const pool = connectionPool(address);
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    ...(onQuery && { log: event => onQuery(event.queryDurationMillis) }),
  });
  try {
    await pool.check();
    if (await migratePostgres(db)) onNotice?.(MIGRATED);
  } catch (error) {
    await db.destroy();
    if (error instanceof DataDirectoryError || error instanceof DatabaseUrlError) throw error;
    throw new DatabaseUnavailableError(
      `the database ${address.name} can't be used: ${databaseFaultReason(error)}`,
      {
        cause: error,
      },
    );
  }
  const blobs = (collection: Collection): Blobs => {
    const rows = blobRows(db, collection);
    return mediaDir === undefined ? rows : blobsAfter(rows, blobFiles(path.join(mediaDir, collection)));
  };
  return buildStore({
    db,
    shared: true,
    workers: new LeasedWorkers(db),
    runWrites,
    blobs: { media: blobs('media'), inputs: blobs('inputs'), texts: blobs('texts') },
    requestRates: perSecond => requestRates(db, perSecond),
    close: () => db.destroy(),
  });
}
