import { prepareDataDirectory } from '../../files/data-directory.ts';
import { openSqliteStore } from './sqlite/open-sqlite-store.ts';
import type { Store, StoreOptions } from './store.ts';
import { dataDirectoryError } from './store-errors.ts';

/**
 * Opens the store, and creates it if it doesn't exist. Several processes may have it open.
 *
 * @throws {DataDirectoryError} if the directory or its database can't be used
 * @throws {DatabaseUrlError} for a URL that is not PostgreSQL's
 * @throws {DatabaseUnavailableError} if PostgreSQL can't be reached
 * @throws {MediaUrlError} if `mediaBucketUrl` doesn't name an object store
 */
export async function openDatabase(options: StoreOptions): Promise<Store> {
  const { mediaBucketUrl, env = {}, clock } = options;
  if (mediaBucketUrl === undefined) return await openWithoutObjectStore(options);

  const [{ parseMediaUrl }, { keepInObjectStore }] = await Promise.all([
    import('./blobs/bucket-location.ts'),
    import('./blobs/media-location.ts'),
  ]);
  const location = parseMediaUrl(mediaBucketUrl, env);
  return await keepInObjectStore(await openWithoutObjectStore(options), location, clock);
}

async function openWithoutObjectStore(options: StoreOptions): Promise<Store> {
  const { databaseUrl, dataDir } = options;
  const rethrowAsDirectoryError = (error: unknown): never => {
    throw dataDirectoryError(dataDir, error);
  };

  // Even with a remote database, the directory holds files of this machine, such as models.
  const file = await prepareDataDirectory(dataDir).catch(rethrowAsDirectoryError);
  if (databaseUrl === undefined) {
    return await openSqliteStore(file, options).catch(rethrowAsDirectoryError);
  }

  const { openPostgresStore } = await import('./postgres/open-postgres-store.ts');
  return await openPostgresStore(databaseUrl, options);
}

/**
 * Checks that all instances on a store keep media in the same place, and that it can be used. An
 * unreachable object store is only a notice.
 *
 * @throws {DataDirectoryError} if the other instances use another place
 * @throws {ObjectStoreError} if an object store refuses
 */
export async function checkMediaLocation(
  store: Store,
  { databaseUrl, mediaDir, onNotice = () => {} }: StoreOptions,
): Promise<void> {
  const { checkObjectStoreLocation } = await import('./blobs/media-location.ts');
  await checkObjectStoreLocation(store, onNotice);
  if (databaseUrl === undefined || store.objectStore) return;
  const { checkSharedDirectory } = await import('./blobs/media-directory.ts');
  await checkSharedDirectory(store.settings, mediaDir);
}
