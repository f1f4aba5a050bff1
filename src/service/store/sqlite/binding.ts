import { setTimeout as sleep } from 'node:timers/promises';
import { noSqlite } from '../errors.ts';

/** What both SQLite bindings have in common, as far as it is used here. */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement;
  exec(sql: string): void;
  close(): void;
}

export interface SqliteStatement {
  all(...values: SqliteValue[]): unknown[];
  run(...values: SqliteValue[]): { changes: number | bigint; lastInsertRowid: number | bigint };
}

export type SqliteValue = null | number | bigint | string | Uint8Array;

export interface SqliteModule {
  DatabaseSync: new (path: string) => SqliteDatabase;
}

/**
 * Opens a database file with Node's own SQLite where there is one that is safe, else with the one that is shipped.
 *
 * @throws {DataDirectoryError} where that can't be loaded on this platform
 */
export async function openSqlite(file: string): Promise<SqliteDatabase> {
  const { DatabaseSync } = await loadSqlite(process.versions);
  return new DatabaseSync(file);
}

/** The binding that Node of these versions is given; an unsafe one of its own is better than none. */
export async function loadSqlite({ sqlite }: NodeJS.ProcessVersions): Promise<SqliteModule> {
  const builtIn = sqlite === undefined ? undefined : builtInSqlite();
  if (builtIn && isSafe(sqlite ?? '')) return builtIn;
  try {
    return await import('./packaged.ts');
  } catch (error) {
    if (builtIn) return builtIn;
    throw noSqlite(error);
  }
}

/** The first release that loses no commits where another process moves the log to the database meanwhile. */
const SAFE = [3, 51, 3] as const;

function isSafe(version: string): boolean {
  const parts = version.split('.').map(Number);
  const at = SAFE.findIndex((part, index) => parts[index] !== part);
  return at < 0 || (parts[at] ?? 0) > (SAFE[at] ?? 0);
}

function builtInSqlite(): SqliteModule | undefined {
  const getBuiltin = (process as { getBuiltinModule?: (id: string) => unknown }).getBuiltinModule;
  if (!getBuiltin) return undefined;
  // Node announces its SQLite as experimental on standard error, which belongs to the user.
  const emitting = Object.getOwnPropertyDescriptor(process, 'emitWarning');
  process.emitWarning = () => {};
  try {
    return getBuiltin('node:sqlite') as SqliteModule | undefined;
  } finally {
    if (emitting) Object.defineProperty(process, 'emitWarning', emitting);
  }
}

const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_PROTOCOL = 15;
const SQLITE_NOTADB = 26;

/** The packaged binding gives no code with what fails while rows are read. */
const CODE_OF_MESSAGE: Readonly<Record<string, number>> = {
  'database is locked': SQLITE_BUSY,
  'database disk image is malformed': SQLITE_CORRUPT,
  'locking protocol': SQLITE_PROTOCOL,
  'file is not a database': SQLITE_NOTADB,
};

/** Another connection holds a lock, perhaps for a short time only. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === SQLITE_BUSY || code === SQLITE_PROTOCOL;
}

/** What the file holds is not a database, or no longer a whole one. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

/** SQLite's primary result code of an error; undefined for any other error. */
function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff;
  return CODE_OF_MESSAGE[error.message];
}

/** How long a lock is waited for in all, in milliseconds: hundreds of processes may want it one after the other. */
const LOCK_TIMEOUT_MS = 120_000;
/** The longest pause between two tries, in milliseconds. */
const LONGEST_PAUSE_MS = 60;

/** Does `work` again for as long as other connections hold the lock that it needs. */
export async function whenUnlocked<T>(work: () => T | Promise<T>): Promise<T> {
  let firstBusy: number | undefined;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      firstBusy ??= performance.now();
      if (!isBusy(error) || performance.now() - firstBusy > LOCK_TIMEOUT_MS) throw error;
      // At random, so that those who wait don't all come back at once.
      await sleep(Math.random() * LONGEST_PAUSE_MS);
    }
  }
}
