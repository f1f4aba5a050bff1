import { statfsSync } from 'node:fs';
import { DataDirectoryError } from '../../files/data-directory.ts';
import { codeOf, messageOf } from '../../files/error-utils.ts';

/** A database URL that is not PostgreSQL's. The message says what one looks like, and never repeats it. */
export class DatabaseUrlError extends Error {
  readonly code = 'INVALID_DATABASE_URL';
}

/** The database can't be reached, or not at present. The message holds no password. */
export class DatabaseUnavailableError extends Error {
  readonly code = 'DATABASE_UNAVAILABLE';
}

/** A place for media that is not one of an object store, or lacks a variable. The message repeats no variable. */
export class MediaUrlError extends Error {
  readonly code = 'INVALID_MEDIA_URL';
}

/** The object store of media can't be reached, or refuses. The message holds neither its address nor a key. */
export class MediaUnavailableError extends Error {
  readonly code = 'MEDIA_UNAVAILABLE';
  /** True if the store itself refused, for a reason that does not pass. */
  readonly isRefusal: boolean;
  /** True if the same request may work a moment later. */
  readonly mayPassSoon: boolean;

  constructor(
    message: string,
    options: { readonly isRefusal?: boolean; readonly mayPassSoon?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.isRefusal = options.isRefusal ?? false;
    this.mayPassSoon = options.mayPassSoon ?? false;
  }
}

/** Returns true for a fault of the database or the object store that passes by itself. */
export function isStoreAway(error: unknown): boolean {
  return error instanceof DatabaseUnavailableError || error instanceof MediaUnavailableError;
}

/** Less room than this is none: a database needs a few pages for anything; in bytes. */
const NO_ROOM = 64 * 1024;

/** SQLite calls a disk that is full an input/output error at times. */
function isDiskFull(dataDir: string, cause: unknown): boolean {
  const message = messageOf(cause);
  if (/disk is full/.test(message) || /^(ENOSPC|EDQUOT)$/.test(codeOf(cause) ?? '')) return true;
  try {
    const { bavail, bsize } = statfsSync(dataDir);
    return /disk I\/O error/.test(message) && bavail * bsize < NO_ROOM;
  } catch {
    return false;
  }
}

/** Wraps a fault with the data directory into one line that names it and the remedy. */
export function dataDirectoryError(dataDir: string, cause: unknown): DataDirectoryError {
  if (cause instanceof DataDirectoryError) return cause;
  const isFull = isDiskFull(dataDir, cause);
  const what = isFull
    ? `the disk of the data directory ${dataDir} is full (${messageOf(cause)}); free space on it`
    : `the data directory ${dataDir} can't be used: ${messageOf(cause)}; make it writable, free space on its disk`;
  return new DataDirectoryError(`${what}, or set PROMPTRUN_DATA_DIR to another directory`, {
    cause,
    isDiskFull: isFull,
  });
}

/** The same for a fault of the database or of a file in the directory; any other error stays as it is. */
export function storeFault(dataDir: string, error: unknown): unknown {
  const isStores = error instanceof Error && ('errcode' in error || isDiskFull(dataDir, error));
  return isStores ? dataDirectoryError(dataDir, error) : error;
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
