import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { DEATH_DELAY_MS, type Release, waitForLock } from '../../../files/writing/lock.ts';
import {
  makeDirectory,
  resolveContainedPath,
  toContainedPath,
} from '../../../files/writing/write-below.ts';
import { getErrorCode } from '../../../utils/error-utils.ts';
import { formatSuggestion, isTypo } from '../../../utils/nearest-name.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import { unwritableFileError } from '../../jobs/batch-journal.ts';
import type { JobState } from '../../jobs/read-journal.ts';
import { checkDirectory, checkWritableFile } from '../../outputs/saving/check-writable.ts';
import { type BatchOptions, isTableName } from '../batch-options.ts';
import { JsonlResults } from './jsonl-results.ts';
import { existsAlreadyError, type ResultsSink, resultsFileError } from './results-file.ts';

/**
 * Opens the file of results, the device or pipe, or standard output.
 *
 * @throws {CliError} if it can't be written
 */
export async function openResults(
  ctx: Context,
  { out, stream, resume, excel, sorted }: BatchOptions,
  earlierStates: ReadonlyMap<string, JobState>,
): Promise<ResultsSink> {
  if (out === undefined) {
    const { openStreamResults } = await import('./stream-results.ts');
    return openStreamResults(ctx, { stream, excel, sorted });
  }
  if (!isTableName(out)) return JsonlResults.open(ctx, { out, resume });
  const { CsvResults } = await import('./csv-results.ts');
  return CsvResults.open(ctx, { out, resume, excel }, earlierStates);
}

/**
 * Locks the results against other batches.
 *
 * @throws {CliError} if another batch is writing to them
 */
export async function lockResults(
  { clock }: Context,
  filePath: string,
  name: string,
): Promise<Release> {
  let release: Release | undefined;
  try {
    release = await waitForLock(toContainedPath(filePath), clock, DEATH_DELAY_MS);
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') throw resultsFileError(error, filePath, name);
    throw unwritableFileError(`${name}.lock`, error);
  }

  if (release === undefined) {
    throw usageError(
      `another batch is writing to ${name}`,
      'Wait until it ends, or name another file with --out.',
    );
  }

  return release;
}

/** Checks, before any request, that the output files may and can be written. */
export function checkOutputPaths(
  { cwd, io }: Context,
  { out, resume, saveTo, from }: BatchOptions,
): void {
  if (saveTo !== undefined) checkDirectory(cwd, saveTo, '--save');
  if (out === undefined) return;

  const filePath = path.resolve(cwd, out);
  const isExistingFile = existsSync(filePath);
  checkWritableFile(cwd, out, '--out');
  for (const suffix of ['.journal', '.lock']) {
    resolveContainedPath(toContainedPath(filePath + suffix));
  }

  // Its journal and lock are created in the same directory, which `checkWritableFile` has tested
  // only for a new file.
  if (isExistingFile) checkDirectory(cwd, path.dirname(filePath), '--out');

  if (resume) {
    if (isExistingFile || existsSync(`${filePath}.journal`)) return;
    throwIfMisspelt(filePath, out, path.resolve(cwd, from));
    return io.note(`note: ${out} does not exist, so no row has been run before`);
  }

  if (isExistingFile) throw existsAlreadyError(out);

  if (existsSync(`${filePath}.journal`)) {
    throw usageError(
      `${out}.journal already exists: a batch has begun to write ${out}`,
      'Add --resume to resume it, or name another file with --out.',
    );
  }
}

/**
 * Refuses `--resume` of a missing file whose name looks like a typo of an existing one. Names of
 * shards may differ in a number.
 */
function throwIfMisspelt(filePath: string, name: string, sourcePath: string): void {
  const wantedName = path.basename(filePath);
  const withoutDigits = (text: string): string => text.replaceAll(/\d/gu, '');
  const existingName = readdirSync(path.dirname(filePath)).find(
    fileName =>
      isTypo(wantedName, fileName) &&
      withoutDigits(fileName) !== withoutDigits(wantedName) &&
      fileName !== path.basename(sourcePath),
  );
  if (existingName === undefined) return;

  throw usageError(
    `--resume: ${name} does not exist${formatSuggestion(existingName)}`,
    'To begin a new batch, leave out --resume.',
  );
}

/** Returns the journal's path for a batch without a file of results; creates its folder. */
export function createJournalPath(ctx: Context): string {
  makeDirectory(ctx.stateDir, 0o700);
  const stamp = new Date(ctx.clock.now()).toISOString().replaceAll(/[:.]/gu, '-');
  return path.join(ctx.stateDir, `batch-${stamp}-${process.pid}.jsonl.journal`);
}
