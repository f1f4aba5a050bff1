import { statfsSync } from 'node:fs';
import { DataDirectoryError } from '../../files/data-directory.ts';
import { getErrorMessage, isDiskFullError } from '../../utils/error-utils.ts';

/**
 * Free bytes below which a disk counts as full, because a database needs a few pages for any write.
 */
const MIN_FREE_BYTES = 64 * 1024;

/**
 * A database URL that is not PostgreSQL's. The message shows the form, and never repeats the URL.
 */
export class DatabaseUrlError extends Error {
  readonly code = 'INVALID_DATABASE_URL';
}

/** The database can't be reached at present. The message contains no password. */
export class DatabaseUnavailableError extends Error {
  readonly code = 'DATABASE_UNAVAILABLE';
}

/**
 * An invalid `--media`, or a missing environment variable. The message repeats no value of a
 * variable.
 */
export class MediaUrlError extends Error {
  readonly code = 'INVALID_MEDIA_URL';
}

/**
 * The object store of media can't be reached, or refuses. The message contains neither its address
 * nor a key.
 */
export class ObjectStoreError extends Error {
  readonly code = 'MEDIA_UNAVAILABLE';
  /** True if the store refused the request, and would refuse it again. */
  readonly isRefusal: boolean;
  /** True if the same request may succeed a moment later. */
  readonly isTemporary: boolean;

  constructor(
    message: string,
    options: {
      readonly isRefusal?: boolean;
      readonly isTemporary?: boolean;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.isRefusal = options.isRefusal ?? false;
    this.isTemporary = options.isTemporary ?? false;
  }
}

/** The disk of a directory for media or inputs is full. */
export class DiskFullError extends Error {
  readonly code = 'DISK_FULL';

  constructor(directory: string, cause: unknown) {
    super(explainFullDisk(directory, cause), { cause });
  }
}

/** Returns true if the database or the object store is unavailable, which may be temporary. */
export function isStoreUnavailable(error: unknown): boolean {
  return error instanceof DatabaseUnavailableError || error instanceof ObjectStoreError;
}

/** Rethrows an error, unless it means that the store is unavailable. */
export function ignoreUnavailableStore(error: unknown): void {
  if (!isStoreUnavailable(error)) throw error;
}

/** Returns true if the disk is full, which SQLite sometimes reports as an I/O error. */
function isDiskFull(dataDir: string, cause: unknown): boolean {
  const message = getErrorMessage(cause);
  if (/disk is full/.test(message) || isDiskFullError(cause)) return true;
  try {
    const { bavail, bsize } = statfsSync(dataDir);
    return /disk I\/O error/.test(message) && bavail * bsize < MIN_FREE_BYTES;
  } catch {
    return false;
  }
}

/** Returns an error whose one-line message names the data directory, the fault and the remedy. */
export function dataDirectoryError(dataDir: string, cause: unknown): DataDirectoryError {
  if (cause instanceof DataDirectoryError) return cause;
  const isFull = isDiskFull(dataDir, cause);
  const problem = isFull
    ? explainFullDisk(`the data directory ${dataDir}`, cause)
    : `the data directory ${dataDir} can't be used: ${getErrorMessage(cause)}; make it writable, free space on its disk`;

  return new DataDirectoryError(`${problem}, or set PROMPTRUN_DATA_DIR to another directory`, {
    cause,
    isDiskFull: isFull,
  });
}

function explainFullDisk(directory: string, cause: unknown): string {
  return `the disk of ${directory} is full (${getErrorMessage(cause)}); free space on it`;
}

/**
 * Explains a fault of a running service to its operator, who can't choose another directory now.
 */
export function explainStoreFault(dataDir: string, error: unknown): string {
  return isDiskFull(dataDir, error)
    ? explainFullDisk(`the data directory ${dataDir}`, error)
    : getErrorMessage(error);
}

/**
 * Returns a DataDirectoryError for an error of SQLite or a full disk; returns any other error
 * unchanged.
 */
export function wrapStoreFault(dataDir: string, error: unknown): unknown {
  const isStoreFault = error instanceof Error && ('errcode' in error || isDiskFull(dataDir, error));
  return isStoreFault ? dataDirectoryError(dataDir, error) : error;
}

/** Returns the error for a platform on which no SQLite can be loaded. */
export function noSqliteError(cause: unknown): DataDirectoryError {
  const { platform, arch, versions } = process;
  const [reason = ''] = getErrorMessage(cause).split('\n');
  return new DataDirectoryError(
    `Node ${versions.node} has no SQLite, and the one bundled with promptrun can't be loaded on ${platform} ${arch}: ${reason.trim()}; use Node 22.13 or newer, which includes it`,
    { cause },
  );
}

/** Returns the error for a damaged database, with the remedies. */
export function damagedStoreError(file: string, reason: string): DataDirectoryError {
  return new DataDirectoryError(
    `the store ${file} is damaged: ${reason}; restore the file from a backup, or start a new store with \`promptrun serve --new-store\`, which puts this one aside`,
  );
}
