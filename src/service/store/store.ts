import { type AccountsStore, accountsStore } from './accounts-store.ts';
import type { Blobs, Collection } from './blobs.ts';
import { type MediaStore, mediaStore } from './media-store.ts';
import type { Db } from './prepared.ts';
import { type PromptsStore, promptsStore } from './prompts-store.ts';
import { type RunList, runList } from './run-list.ts';
import { type RunQueue, runQueue } from './run-queue.ts';
import { type RunsStore, runsStore } from './runs-store.ts';
import { type SettingsStore, settingsStore } from './settings-store.ts';
import type { Signals } from './signals.ts';
import type { Workers } from './workers.ts';
import type { Writer } from './writer.ts';

/** What each kind of database does in its own way. */
export interface Backend {
  readonly db: Db;
  readonly writer: Writer;
  /** Whether processes of other machines work on it as well. */
  readonly shared: boolean;
  readonly workers: Workers;
  readonly signals: Signals;
  readonly blobs: Readonly<Record<Collection, Blobs>>;
  /** Counts requests over all processes of a shared store; gives how long to wait, in milliseconds. */
  readonly requestRates?: (perSecond: number) => { take(keyId: string): Promise<number> };
  /** Rejects while the database is away. */
  ping(): Promise<void>;
  /** Closes the database; nothing is being written any more. */
  close(): Promise<void>;
}

/** Everything the local service keeps; nothing outside of `store/` knows SQL, or which database it is. */
export interface Store extends Omit<Backend, 'db' | 'writer'> {
  readonly accounts: AccountsStore;
  readonly prompts: PromptsStore;
  readonly runs: RunsStore;
  readonly runList: RunList;
  readonly queue: RunQueue;
  readonly media: MediaStore;
  readonly settings: SettingsStore;
  /** Waits for what is being written, and closes the database. */
  close(): Promise<void>;
}

/** The same queries on either kind of database. */
export function storeOn(backend: Backend): Store {
  const { db, writer, ...rest } = backend;
  return {
    ...rest,
    accounts: accountsStore(db, writer),
    prompts: promptsStore(db, writer),
    runs: runsStore(db, writer),
    runList: runList(db),
    queue: runQueue(db, writer, rest),
    media: mediaStore(db, writer),
    settings: settingsStore(db, writer),
    async close() {
      await writer.idle();
      await rest.close();
    },
  };
}
