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
 * @throws {MediaUrlError} if media is to be kept in a place that is not one of an object store
 */
export async function openDatabase(options: StoreOptions): Promise<Store> {
  const { media, env = {}, clock } = options;
  if (media === undefined) return await openAlone(options);
  const [{ readMediaUrl }, { keepInObjects }] = await Promise.all([
    import('./objects/media-url.ts'),
    import('./objects/media-place.ts'),
  ]);
  const place = readMediaUrl(media, env);
  return await keepInObjects(await openAlone(options), place, clock);
}

async function openAlone(options: StoreOptions): Promise<Store> {
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

/**
 * Sees to it that all instances on a store keep media in one place, and that it can be used. One that can't be reached is
 * a notice only.
 *
 * @throws {DataDirectoryError} for another place
 * @throws {MediaUnavailableError} if an object store refuses
 */
export async function checkMediaPlace(
  store: Store,
  { database, mediaDir, onNotice = () => {} }: StoreOptions,
): Promise<void> {
  const { checkObjectPlace } = await import('./objects/media-place.ts');
  await checkObjectPlace(store, onNotice);
  if (database === undefined || store.objects) return;
  const { checkMediaDirectory } = await import('./postgres/media-directory.ts');
  await checkMediaDirectory(store.settings, mediaDir);
}
