import type { Env } from '../../utils/env.ts';
import type { Clock } from '../core/clock.ts';
import type { RateLimiter } from '../core/rate-limiter.ts';
import { AccountsStore } from './accounts-store.ts';
import type { BlobCollection, Blobs } from './blobs/blobs.ts';
import type { ObjectStore } from './blobs/object-store.ts';
import { createLabelsStore } from './labels-store.ts';
import { createMediaStore } from './media-store.ts';
import { PromptsStore } from './prompts-store.ts';
import { RunQueue } from './runs/run-queue.ts';
import type { RunWrites } from './runs/run-records.ts';
import { RunsStore } from './runs/runs-store.ts';
import { createSettingsStore } from './settings-store.ts';
import { type Db, Writer } from './writer.ts';

export interface StoreOptions {
  dataDir: string;
  /** The kind of worker that this process is; default `serve`. */
  workerKind?: WorkerKind | undefined;
  /** The URL of a PostgreSQL database; default an SQLite file in the data directory. */
  databaseUrl?: string | undefined;
  /**
   * A directory for media and inputs, shared by all instances on the database; default the
   * database.
   */
  mediaDir?: string | undefined;
  /**
   * Bucket and prefix for media and input images, such as `s3://bucket/prefix`; default no object
   * store.
   */
  mediaBucketUrl?: string | undefined;
  /** The environment, with the object store's address and key and the proxies; default empty. */
  env?: Env | undefined;
  clock: Clock;
  /** True to rename an existing SQLite file and start a new one; default false. */
  newStore?: boolean | undefined;
  /** Called after each statement with its duration in milliseconds. */
  onQuery?: ((durationMs: number) => void) | undefined;
  /**
   * Called with a notice for the operator, such as the new name of a former store, or a migration.
   */
  onNotice?: ((line: string) => void) | undefined;
}

/** The parts of a store that differ between the kinds of database. */
interface DatabaseBackend {
  readonly db: Db;
  /** True if processes on other machines may use the database too. */
  readonly isShared: boolean;
  readonly workers: Workers;
  readonly blobs: Readonly<Record<BlobCollection, Blobs>>;
  /** Resolves once all commits are on disk; undefined if each commit waits for the disk itself. */
  readonly flush?: (() => Promise<void>) | undefined;
  /** Returns a limiter that counts the requests of all processes of a shared store. */
  readonly createRateLimiter?: (perSecond: number) => RateLimiter;
  /** Returns the database's own way to create and end runs; default statement by statement. */
  readonly createRunWrites?: (db: Db, writer: Writer) => RunWrites;
  /** Closes the database, after all writes have ended. */
  close(): Promise<void>;
}

/** Everything that the local service stores. Only `store/` knows SQL and the kind of database. */
export type Store = ReturnType<typeof buildStore>;

/** Builds a store on either kind of database. */
export function buildStore({ db, flush, ...backend }: DatabaseBackend) {
  const writer = new Writer(db, { sharesTransactions: !backend.isShared, flush });
  const runWrites = backend.createRunWrites?.(db, writer);
  return {
    ...backend,
    accounts: new AccountsStore(db, writer),
    prompts: new PromptsStore(db, writer, runWrites),
    runs: new RunsStore(db, writer, runWrites),
    queue: new RunQueue(db, writer, backend),
    labels: createLabelsStore(db, writer),
    media: createMediaStore(db, writer),
    settings: createSettingsStore(db, writer),
    /** The object store that holds media and input images, if there is one. */
    objectStore: undefined as ObjectStore | undefined,
    /** Rejects while the database is unavailable. */
    ping: () => db.selectFrom('users').select('id').limit(1).execute(),
    /** Waits for pending writes, then closes the database. */
    async close() {
      await writer.waitForIdle();
      await runWrites?.flush();
      await backend.close();
    },
  };
}

/** The notice for the operator after a migration. */
export const MIGRATED_NOTICE =
  'the store was written by an older promptrun and has been upgraded; older versions can no longer open it';

/** The kind of process that runs runs: a command its own, a `serve` those in the queue. */
export type WorkerKind = 'command' | 'serve';

/** The registry of workers, which knows which are alive. */
export interface Workers {
  /** Returns the id of this process as a worker. From the first call on, it counts as alive. */
  register(): Promise<string>;
  /** Returns the kind of a worker, which may be dead. */
  getWorkerKind(worker: string): WorkerKind;
  /** Returns true if a worker is alive, or its state can't be determined. */
  isAlive(worker: string): Promise<boolean>;
  /** Removes the entries of dead workers. */
  removeDead(): Promise<void>;
  /** Removes the entry of this process, which then no longer counts as alive. */
  release(): Promise<void>;
}
