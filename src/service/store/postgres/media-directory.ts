import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { DataDirectoryError } from '../../../files/data-directory.ts';
import { createFile } from '../../../files/writing/write-file.ts';
import { errorCode, errorMessage } from '../../../utils/error-utils.ts';
import type { SettingsStore } from '../settings-store.ts';

/** A file with a random id that identifies the directory. */
const MEDIA_DIRECTORY_MARK = '.promptrun-media';
/** The setting with the id of the directory that the instances use. */
export const MEDIA_DIRECTORY = 'mediaDirectory';
const WRITABLE_BY_ALL = 0o002;

/**
 * Checks that all instances on a database keep media in the same place: the database, or the directory of the first
 * instance.
 *
 * @throws {DataDirectoryError} if this instance uses another place, or the directory can't be used
 */
export async function checkMediaDirectory(
  settings: SettingsStore,
  directory: string | undefined,
): Promise<void> {
  const shared = await settings.get(MEDIA_DIRECTORY);
  if (directory === undefined) {
    if (shared === undefined) return;
    throw new DataDirectoryError(
      'the instances on this database keep media in a directory that they share; give it to this one too, with --media-dir',
    );
  }
  const mark = await createMark(directory, shared).catch((error: unknown) => {
    if (error instanceof DataDirectoryError) throw error;
    throw new DataDirectoryError(`the media directory ${directory} can't be used: ${errorMessage(error)}`);
  });
  const { value } = await settings.once(MEDIA_DIRECTORY, () => mark);
  if (value !== mark) throw anotherDirectory(directory);
}

async function createMark(directory: string, shared: string | undefined): Promise<string> {
  const { mode } = await stat(directory);
  // Windows has no modes, and reports one that allows everybody to write.
  if (process.platform !== 'win32' && (mode & WRITABLE_BY_ALL) !== 0) {
    throw new DataDirectoryError(
      `everybody can write to the media directory ${directory}; close it to them with \`chmod o-w ${directory}\``,
    );
  }
  const file = path.join(directory, MEDIA_DIRECTORY_MARK);
  const written = await readMark(file);
  if (written !== undefined) return written;
  if (shared !== undefined) throw anotherDirectory(directory);
  // If another instance was faster, its mark stays.
  await createFile({ folder: directory, name: MEDIA_DIRECTORY_MARK }, `${randomUUID()}\n`, 0o600);
  return (await readMark(file)) ?? '';
}

function anotherDirectory(directory: string): DataDirectoryError {
  return new DataDirectoryError(
    `the media directory ${directory} is not the one that the instances on this database share; mount that one here, or move it with all that is in it, ${MEDIA_DIRECTORY_MARK} included`,
  );
}

async function readMark(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
