import { setTimeout as sleep } from 'node:timers/promises';
import { noSqliteError } from '../store-errors.ts';

/**
 * Maximum time to wait for a lock, in milliseconds: hundreds of processes may want it one after the
 * other.
 */
const MAX_LOCK_WAIT_MS = 120_000;

/** Maximum pause between two attempts, in milliseconds. */
const MAX_BUSY_PAUSE_MS = 60;

const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_PROTOCOL = 15;
const SQLITE_NOTADB = 26;

/** Result codes by message, because the packaged binding omits the code if reading rows fails. */
const CODES_BY_MESSAGE: Readonly<Record<string, number>> = {
  'database is locked': SQLITE_BUSY,
  'database disk image is malformed': SQLITE_CORRUPT,
  'locking protocol': SQLITE_PROTOCOL,
  'file is not a database': SQLITE_NOTADB,
};

/** The first release that can't lose commits while another process runs a checkpoint. */
const FIRST_SAFE_VERSION = [3, 51, 3] as const;

/** The part that is used here of the interface that both SQLite bindings have. */
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
 * Opens a database file with Node's built-in SQLite if it has a safe version, else with the
 * packaged one.
 *
 * @throws {DataDirectoryError} if no SQLite can be loaded on this platform
 */
export async function openSqlite(file: string): Promise<SqliteDatabase> {
  const { DatabaseSync } = await loadSqlite(process.versions);
  return new DatabaseSync(file);
}

/**
 * Loads a SQLite binding: the built-in one if its version is safe, else the packaged one. If that
 * can't be loaded, an unsafe built-in one is better than none.
 *
 * @throws {DataDirectoryError} if none can be loaded
 */
export async function loadSqlite({ sqlite }: NodeJS.ProcessVersions): Promise<SqliteModule> {
  const builtIn = sqlite === undefined ? undefined : loadBuiltInSqlite();
  if (builtIn && isSafeVersion(sqlite ?? '')) return builtIn;
  try {
    return await import('./packaged-sqlite.ts');
  } catch (error) {
    if (builtIn) return builtIn;
    throw noSqliteError(error);
  }
}

function isSafeVersion(version: string): boolean {
  const parts = version.split('.').map(Number);
  const index = FIRST_SAFE_VERSION.findIndex((part, index) => parts[index] !== part);
  return index < 0 || (parts[index] ?? 0) > (FIRST_SAFE_VERSION[index] ?? 0);
}

function loadBuiltInSqlite(): SqliteModule | undefined {
  const getBuiltin = (process as { getBuiltinModule?: (id: string) => unknown }).getBuiltinModule;
  if (!getBuiltin) return undefined;

  // Node warns on stderr that its SQLite is experimental, which doesn't concern the user.
  const emitWarning = Object.getOwnPropertyDescriptor(process, 'emitWarning');
  process.emitWarning = () => {};

  try {
    return getBuiltin('node:sqlite') as SqliteModule | undefined;
  } finally {
    if (emitWarning) Object.defineProperty(process, 'emitWarning', emitWarning);
  }
}

/** Returns true if another connection holds a lock, perhaps only briefly. */
export function isBusyError(error: unknown): boolean {
  const code = findSqliteCode(error);
  return code === SQLITE_BUSY || code === SQLITE_PROTOCOL;
}

/** Returns true if the file is not a database, or a damaged one. */
export function isDamageError(error: unknown): boolean {
  const code = findSqliteCode(error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

/** Returns SQLite's primary result code; undefined for any other error. */
function findSqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff;
  return CODES_BY_MESSAGE[error.message];
}

/** Retries `work` as long as another connection holds the lock that it needs. */
export async function retryWhileLocked<T>(work: () => T | Promise<T>): Promise<T> {
  let firstBusyAt: number | undefined;
  while (true) {
    try {
      return await work();
    } catch (error) {
      firstBusyAt ??= performance.now();
      if (!isBusyError(error) || performance.now() - firstBusyAt > MAX_LOCK_WAIT_MS) throw error;
      // Random, so that waiting processes don't all retry at once.
      await sleep(Math.random() * MAX_BUSY_PAUSE_MS);
    }
  }
}
