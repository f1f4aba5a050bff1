import { existsSync, mkdtempSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { checkDeviceName, isDirectory, isLink } from '../../../files/writing/write-below.ts';
import { checkNamedForWriting } from '../../../files/writing/write-file.ts';
import { getErrorCode } from '../../../utils/error-utils.ts';
import { type CliError, unwritableError, usageError } from '../../core/errors.ts';

/**
 * Refuses a directory that can't be written to, before anything is paid for. Does not create a
 * missing one.
 *
 * @param flag the flag that names it
 * @throws {CliError} USAGE_ERROR
 * @throws {PathFault} for a device name on Windows
 */
export function checkDirectory(cwd: string, directoryName: string, flag: string): void {
  let directory = path.resolve(cwd, directoryName);
  while (!existsSync(directory)) {
    checkDeviceName(directory);

    if (isLink(directory)) {
      throw usageError(
        `${flag}: ${directory} is a link to nothing`,
        'Make the folder that it names.',
      );
    }

    const parent = path.dirname(directory);
    if (parent === directory) throw usageError(`${flag}: the drive ${directory} does not exist`);
    directory = parent;
  }

  if (!isDirectory(directory)) throw usageError(`${flag}: ${directory} is not a directory`);

  try {
    // Permissions alone don't reveal read-only file systems, so a directory is created and removed.
    rmdirSync(mkdtempSync(path.join(directory, '.promptrun-')));
  } catch (error) {
    throw unwritableDirectoryError(directory, flag, error);
  }
}

/**
 * Refuses a file that can't be written, before anything is paid for. Its directory has to exist.
 * Devices and pipes pass.
 *
 * @param flag the flag that names it
 * @throws {CliError} USAGE_ERROR
 * @throws {PathFault} for a link to anything else, and for a device name on Windows
 */
export function checkWritableFile(cwd: string, fileName: string, flag: string): void {
  const file = path.resolve(cwd, fileName);
  if (isDirectory(file)) throw usageError(`${flag}: ${fileName} is a directory`);

  checkNamedForWriting(file);
  if (existsSync(file)) return;

  const directory = path.dirname(file);
  if (!existsSync(directory)) throw usageError(`${flag}: no such directory: ${directory}`);
  checkDirectory(cwd, directory, flag);
}

function unwritableDirectoryError(directory: string, flag: string, error: unknown): CliError {
  const code = getErrorCode(error);
  if (code === undefined) throw error;
  const message = `${flag}: files can't be created in ${directory}: ${explainUnwritable(code)}`;
  return unwritableError(error, usageError(message));
}

const REASONS = new Map([
  ['EACCES', 'you have no permission to write there'],
  ['EPERM', 'you have no permission to write there'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'no space is left'],
  ['ENOENT', "the system doesn't allow it"],
]);

/**
 * Explains the error code of a failed write; without the temporary name that the system's own
 * message has.
 */
export function explainUnwritable(code: string): string {
  return REASONS.get(code) ?? code;
}
