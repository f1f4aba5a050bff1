import { Kysely } from 'kysely';
import type { Clock } from '../clock.ts';
import { type AccountsStore, accountsStore } from './accounts-store.ts';
import { type MediaStore, mediaStore } from './media-store.ts';
import { type PromptsStore, promptsStore } from './prompts-store.ts';
import { type RunList, runList } from './run-list.ts';
import { type RunQueue, runQueue } from './run-queue.ts';
import { type RunsStore, runsStore } from './runs-store.ts';
import { type SettingsStore, settingsStore } from './settings-store.ts';
import { connect, putStoreAside } from './sqlite/connect.ts';
import { dataDirectoryError, prepareDataDirectory } from './sqlite/data-dir.ts';
import { sqliteDialect } from './sqlite/dialect.ts';
import { GroupWriter } from './sqlite/group-writer.ts';
import { type Workers, workerLocks } from './sqlite/worker-locks.ts';
import type { Tables } from './tables.ts';

/** Everything the local service keeps in its database; nothing outside of `store/` knows SQL. */
export interface Store {
  readonly accounts: AccountsStore;
  readonly prompts: PromptsStore;
  readonly runs: RunsStore;
  readonly runList: RunList;
  readonly queue: RunQueue;
  readonly media: MediaStore;
  readonly settings: SettingsStore;
  readonly workers: Workers;
  /** Whether processes of other machines work on it as well. */
  readonly shared: boolean;
  /** Waits for what is being written, and closes the database. */
  close(): Promise<void>;
}

export interface StoreOptions {
  dataDir: string;
  clock: Clock;
  /** Keeps what is there under another name, and begins anew; default false. */
  newStore?: boolean | undefined;
  /** Told where the former store is kept. */
  onNotice?: ((line: string) => void) | undefined;
}

/**
 * Opens the store of a data directory, making it where there is none. Several processes may have it open.
 *
 * @throws {DataDirectoryError} where the directory or the database in it can't be used
 */
export async function openDatabase({
  dataDir,
  clock,
  newStore = false,
  onNotice,
}: StoreOptions): Promise<Store> {
  try {
    const file = await prepareDataDirectory(dataDir);
    const workers = workerLocks(dataDir, clock);
    if (newStore) {
      const aside = await putStoreAside(file, workers, clock);
      if (aside !== undefined) onNotice?.(`the former store is kept as ${aside}`);
    }
    const database = await connect(file);
    const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
    const writer = new GroupWriter(db);
    return {
      accounts: accountsStore(db, writer),
      prompts: promptsStore(db, writer),
      runs: runsStore(db, writer),
      runList: runList(db),
      queue: runQueue(db, writer, { shared: false }),
      media: mediaStore(db, writer),
      settings: settingsStore(db, writer),
      workers,
      shared: false,
      async close() {
        await writer.idle();
        await db.destroy();
        database.close();
      },
    };
  } catch (error) {
    throw dataDirectoryError(dataDir, error);
  }
}
