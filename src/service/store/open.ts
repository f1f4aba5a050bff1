import type { Clock } from '../clock.ts';
import { prepareDataDirectory } from './data-dir.ts';
import { dataDirectoryError } from './errors.ts';
import { openSqliteStore } from './sqlite/open.ts';
import type { Store, WorkerKind } from './store.ts';

export interface StoreOptions {
  dataDir: string;
  /** What this process carries runs out as; default `serve`. */
  worker?: WorkerKind | undefined;
  /** A URL of PostgreSQL; by default the store is a file in the data directory. */
  database?: string | undefined;
  /** A directory that all instances on the database share, for media and inputs; default the database. */
  mediaDir?: string | undefined;
  clock: Clock;
  /** Keeps the file that is there under another name, and begins a new one; default false. */
  newStore?: boolean | undefined;
  /** Called with where the former store is kept, and with that an older one was brought to this version. */
  onNotice?: ((line: string) => void) | undefined;
}

/**
 * Opens the store, making it where there is none. Several processes may have it open.
 *
 * @throws {DataDirectoryError} where the directory or the database in it can't be used
 * @throws {DatabaseUrlError} for a URL that is not PostgreSQL's
 * @throws {DatabaseUnavailableError} where PostgreSQL can't be reached
 */
export async function openDatabase(options: StoreOptions): Promise<Store> {
  const { database, dataDir } = options;
  if (database === undefined) return await openSqliteStore(options);
  const { openPostgresStore } = await import('./postgres/open.ts');
  await ownDirectory(dataDir);
  return await openPostgresStore(database, options);
}

/** Sees to it that all instances on a shared store keep media in one place. Throws DataDirectoryError. */
export async function checkMediaPlace(store: Store, mediaDir: string | undefined): Promise<void> {
  const { checkMediaDirectory } = await import('./postgres/media-directory.ts');
  await checkMediaDirectory(store.settings, mediaDir);
}

/** It keeps what is this machine's own, such as models. */
async function ownDirectory(dataDir: string): Promise<void> {
  try {
    await prepareDataDirectory(dataDir);
  } catch (error) {
    throw dataDirectoryError(dataDir, error);
  }
}
