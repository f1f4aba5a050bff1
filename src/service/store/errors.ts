import { messageOf } from '../../files/error-utils.ts';
/** A database URL that is not PostgreSQL's. The message says what one looks like, and never repeats it. */
export class DatabaseUrlError extends Error {
  readonly code = 'INVALID_DATABASE_URL';
}

/** The database can't be reached, or not at present. The message holds no password. */
export class DatabaseUnavailableError extends Error {
  readonly code = 'DATABASE_UNAVAILABLE';
}

/** The data directory can't be used. The message names it and what to do. */
export class DataDirectoryError extends Error {
  readonly code = 'UNUSABLE_STORE';
}

/** Wraps a fault with the data directory into one line that names it and the remedy. */
export function dataDirectoryError(dataDir: string, cause: unknown): DataDirectoryError {
  if (cause instanceof DataDirectoryError) return cause;
  const reason = messageOf(cause);
  return new DataDirectoryError(
    `the data directory ${dataDir} can't be used: ${reason}; make it writable, free space on its disk, or set PROMPTRUN_DATA_DIR to another directory`,
    { cause },
  );
}

/** Without SQLite there is no store. */
export function noSqlite(cause: unknown): DataDirectoryError {
  const { platform, arch, versions } = process;
  const [reason = ''] = messageOf(cause).split('\n');
  return new DataDirectoryError(
    `Node ${versions.node} has no SQLite, and the one that promptrun brings can't be loaded on ${platform} ${arch}: ${reason.trim()}; use Node 22.13 or newer, which has its own`,
    { cause },
  );
}

/** The database can't be used, and what its owner can do. */
export function damagedStore(file: string, reason: string): DataDirectoryError {
  return new DataDirectoryError(
    `the store ${file} is damaged: ${reason}; restore the file from a backup, or begin a new store with \`promptrun serve --new-store\`, which puts this one aside`,
  );
}
