import { prepareDataDirectory } from '../../files/data-directory.ts';
import { dataDirectoryError } from './errors.ts';
import { openSqliteStore } from './sqlite/open.ts';
import type { Store, StoreOptions } from './store.ts';

/**
 * Opens the store, making it where there is none. Several processes may have it open.
 *
 * @throws {DataDirectoryError} where the directory or the database in it can't be used
 * @throws {DatabaseUrlError} for a URL that is not PostgreSQL's
 * @throws {DatabaseUnavailableError} where PostgreSQL can't be reached
 */
export async function openDatabase(options: StoreOptions): Promise<Store> {
  const { database, dataDir } = options;
  const unusable = (error: unknown): never => {
    throw dataDirectoryError(dataDir, error);
  };
  // Beside a database elsewhere it keeps what is this machine's own, such as models.
  const file = await prepareDataDirectory(dataDir).catch(unusable);
  if (database === undefined) return await openSqliteStore(file, options).catch(unusable);
  const { openPostgresStore } = await import('./postgres/open.ts');
  return await openPostgresStore(database, options);
}

/** Sees to it that all instances on a shared store keep media in one place. Throws DataDirectoryError. */
export async function checkMediaPlace(store: Store, mediaDir: string | undefined): Promise<void> {
  const { checkMediaDirectory } = await import('./postgres/media-directory.ts');
  await checkMediaDirectory(store.settings, mediaDir);
}
