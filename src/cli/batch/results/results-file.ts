import { constants } from 'node:fs';
import { type FileHandle, lstat } from 'node:fs/promises';
import path from 'node:path';
import {
  openContainedFile,
  PathFault,
  toContainedPath,
  truncateContainedFile,
} from '../../../files/writing/write-below.ts';
import { getErrorCode } from '../../../utils/error-utils.ts';
import { CliError, usageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-codes.ts';
import { toFileFault } from '../../inputs/read-text.ts';
import type { SourceRow } from '../../inputs/rows/row.ts';
import type { ResultState } from './result-state.ts';
import type { ResultsLine } from './results-line.ts';

/**
 * Opens a file of results; creates it unless the batch is resumed.
 *
 * @throws {CliError} if that fails
 */
export async function openResultsFile(
  filePath: string,
  name: string,
  { resume }: { readonly resume: boolean },
): Promise<FileHandle> {
  const { O_RDWR, O_APPEND, O_CREAT, O_EXCL } = constants;
  try {
    return await openContainedFile(
      toContainedPath(filePath),
      O_RDWR | O_APPEND | O_CREAT | (resume ? 0 : O_EXCL),
    );
  } catch (error) {
    throw resultsFileError(error, filePath, name);
  }
}

/**
 * Returns the error for a file of results that can't be created or opened.
 *
 * @throws {PathFault} unchanged
 */
export function resultsFileError(error: unknown, filePath: string, name: string): CliError {
  if (error instanceof PathFault) throw error;
  const code = getErrorCode(error);
  if (code === 'EEXIST') return existsAlreadyError(name);
  return code === 'ENOENT'
    ? usageError(`--out: no such directory: ${path.dirname(filePath)}`)
    : toFileFault(error, name, '--out');
}

export function existsAlreadyError(name: string): CliError {
  return usageError(
    `${name} already exists`,
    'Add --resume to resume the batch that wrote it, or name another file with --out.',
  );
}

/**
 * Throws if the file of results was moved, removed or replaced while it was written. The batch then
 * keeps its journal, from which the results can be fetched again.
 *
 * @throws {CliError} FILE_ERROR
 */
export async function throwIfReplaced(filePath: string, handle: FileHandle): Promise<void> {
  const [openedFile, fileAtPath] = await Promise.all([
    handle.stat({ bigint: true }),
    lstat(filePath, { bigint: true }).catch(() => undefined),
  ]);
  if (fileAtPath?.ino === openedFile.ino && fileAtPath.dev === openedFile.dev) return;
  const fate = fileAtPath === undefined ? 'moved or removed' : 'replaced';
  throw new CliError(`${filePath} was ${fate} while the batch wrote it, and lacks results`, {
    status: 'FILE_ERROR',
    exitCode: EXIT.fault,
    hints: ['To fetch the results of the finished runs again, add --resume to the same command.'],
  });
}

/**
 * Truncates a file of results that `openResultsFile` opened.
 *
 * @throws {PathFault} and errors of the file system
 */
export async function truncateResults(
  filePath: string,
  handle: FileHandle,
  newLength: number,
): Promise<void> {
  const { size } = await handle.stat();
  truncateContainedFile(toContainedPath(filePath), handle, {
    expectedSize: size,
    newSize: newLength,
  });
}

/** The destination of a batch's results. */
export interface ResultsSink {
  /** The states of rows from earlier results, by row id. */
  readonly states: ReadonlyMap<string, ResultState>;
  /** True if there were results before this invocation. */
  readonly hasEarlierResults: boolean;
  /** Matches a row with its earlier result by its own columns, if the results have no row ids. */
  matchRow?(row: SourceRow): void;
  /** Drops the results with these ids, and the results that match no row. */
  drop?(ids: ReadonlySet<string>): void;
  /** Returns the id of a run that matches no row, if there is one. */
  findUnmatchedRun?(): string | undefined;
  /**
   * Returns the part of a result that the batch's journal has to keep, if the results can't be read
   * back.
   */
  toJournalPart?(line: ResultsLine, row: SourceRow): unknown;
  /** Writes the result of a row. Resolves to false once the reader is gone. */
  write(line: ResultsLine, row: SourceRow): Promise<boolean>;
  /**
   * Leaves exactly one line per row, safely on disk.
   *
   * @param isSorted true for the order of the rows
   */
  finish(isSorted: boolean): Promise<void>;
  close(): Promise<void>;
}
