import type { Env } from '../../models/outgoing/proxy.ts';
import type { Clock } from '../core/clock.ts';
import type { RateLimiter } from '../core/rate-limiter.ts';
import { accountsStore } from './accounts-store.ts';
import type { Blobs, Collection } from './blobs.ts';
import { labelsStore } from './labels-store.ts';
import { mediaStore } from './media-store.ts';
import type { ObjectStore } from './objects/object-store.ts';
import { promptsStore } from './prompts-store.ts';
import { runQueue } from './run-queue.ts';
import type { RunWrites } from './run-records.ts';
import { runsStore } from './runs-store.ts';
import { settingsStore } from './settings-store.ts';
import { type Db, Writer } from './writer.ts';

export interface StoreOptions {
  dataDir: string;
  /** What this process carries runs out as; default `serve`. */
  worker?: WorkerKind | undefined;
  /** A URL of PostgreSQL; by default the store is a file in the data directory. */
  database?: string | undefined;
  /** A directory that all instances on the database share, for media and inputs; default the database. */
  mediaDir?: string | undefined;
  /** A place in an object store for media and input pictures, such as `s3://bucket/prefix`; default none. */
  media?: string | undefined;
  /** Names the object store, its key and the proxies; default empty. */
  env?: Env | undefined;
  clock: Clock;
  /** Keeps the file that is there under another name, and begins a new one; default false. */
  newStore?: boolean | undefined;
  /** Called after each statement with how long it took, in milliseconds. */
  onQuery?: ((durationMs: number) => void) | undefined;
  /** Called with where the former store is kept, and with that an older one was brought to this version. */
  onNotice?: ((line: string) => void) | undefined;
}

/** What each kind of database does in its own way. */
interface Backend {
  readonly db: Db;
  /** Whether processes of other machines work on it as well. */
  readonly shared: boolean;
  readonly workers: Workers;
  readonly blobs: Readonly<Record<Collection, Blobs>>;
  /** Counts requests over all processes of a shared store; gives how long to wait, in milliseconds. */
  readonly requestRates?: (perSecond: number) => RateLimiter;
  /** Creates and ends runs in a way of its own; default step by step. */
  readonly runWrites?: (db: Db, writer: Writer) => RunWrites;
  /** Closes the database; nothing is being written any more. */
  close(): Promise<void>;
}

/** Everything the local service keeps; nothing outside of `store/` knows SQL, or which database it is. */
export type Store = ReturnType<typeof storeOn>;

/** The same queries on either kind of database. */
export function storeOn({ db, ...backend }: Backend) {
  const writer = new Writer(db, { together: !backend.shared });
  const runWrites = backend.runWrites?.(db, writer);
  return {
    ...backend,
    accounts: accountsStore(db, writer),
    prompts: promptsStore(db, writer, runWrites),
    runs: runsStore(db, writer, runWrites),
    queue: runQueue(db, writer, backend),
    labels: labelsStore(db, writer),
    media: mediaStore(db, writer),
    settings: settingsStore(db, writer),
    /** Where media and input pictures are kept if that is an object store. */
    objects: undefined as ObjectStore | undefined,
    /** Rejects while the database is away. */
    ping: () => db.selectFrom('users').select('id').limit(1).execute(),
    /** Waits for what is being written, and closes the database. */
    async close() {
      await writer.idle();
      await runWrites?.flush();
      await backend.close();
    },
  };
}

/** What the owner of a store is told once. */
export const MIGRATED =
  'the store was made by an older promptrun and is of this version now; older ones refuse it';

/** What carries runs out: a command its own, a `serve` those of its queue. */
export type WorkerKind = 'command' | 'serve';

/** Distinguishes living processes from dead ones. */
export interface Workers {
  /** This process's name as a worker; known to be alive from the first call on. */
  register(): Promise<string>;
  /** What a worker is, or was. */
  kindOf(worker: string): WorkerKind;
  /** True as well where it is not known. */
  isAlive(worker: string): Promise<boolean>;
  /** Removes what died workers left. */
  sweep(): Promise<void>;
  release(): Promise<void>;
}
