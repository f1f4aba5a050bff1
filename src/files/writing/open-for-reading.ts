import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { ignoreMissing } from '../../utils/error-utils.ts';
import { type ContainedPath, openContainedFile } from './write-below.ts';

/**
 * Opens a regular file for reading; undefined if it is missing.
 *
 * @throws {PathFault} or file system errors
 */
export async function openForReading(file: ContainedPath): Promise<FileHandle | undefined> {
  return ignoreMissing(openContainedFile(file, constants.O_RDONLY));
}
