import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { DataDirectoryError } from '../../../files/data-directory.ts';
import { createFile } from '../../../files/writing/write-file.ts';
import { getErrorMessage, ignoreMissing } from '../../../utils/error-utils.ts';
import type { SettingsStore } from '../settings-store.ts';

/** The name of the file with a random id that identifies the directory. */
const ID_FILE = '.promptrun-media';

/** The setting with the id of the directory that the instances use. */
export const MEDIA_DIRECTORY_SETTING = 'mediaDirectory';

/** The bit of a file's mode that allows all users to write. */
const WRITABLE_BY_ALL = 0o002;

/**
 * Checks that all instances on a database keep media in the same place: the database, or the
 * directory of the first instance.
 *
 * @throws {DataDirectoryError} if this instance uses another place, or the directory can't be used
 */
export async function checkSharedDirectory(
  settings: SettingsStore,
  directory: string | undefined,
): Promise<void> {
  const sharedId = await settings.get(MEDIA_DIRECTORY_SETTING);
  if (directory === undefined) {
    if (sharedId === undefined) return;
    throw new DataDirectoryError(
      'the instances on this database keep media in a directory that they share; give it to this one too, with --media-dir',
    );
  }

  const id = await ensureDirectoryId(directory, sharedId).catch((error: unknown) => {
    if (error instanceof DataDirectoryError) throw error;
    throw new DataDirectoryError(
      `the media directory ${directory} can't be used: ${getErrorMessage(error)}`,
    );
  });
  const { value } = await settings.getOrCreate(MEDIA_DIRECTORY_SETTING, () => id);
  if (value !== id) throw anotherDirectoryError(directory);
}

/** Returns the id of the directory. Creates one if no instance has chosen a directory yet. */
async function ensureDirectoryId(directory: string, sharedId: string | undefined): Promise<string> {
  const { mode } = await stat(directory);

  // Windows has no modes, and reports one that allows everybody to write.
  if (process.platform !== 'win32' && (mode & WRITABLE_BY_ALL) !== 0) {
    throw new DataDirectoryError(
      `everybody can write to the media directory ${directory}; close it to them with \`chmod o-w ${directory}\``,
    );
  }

  const file = path.join(directory, ID_FILE);
  const existingId = await readId(file);
  if (existingId !== undefined) return existingId;
  if (sharedId !== undefined) throw anotherDirectoryError(directory);

  // If another instance was faster, its id stays.
  await createFile({ folder: directory, name: ID_FILE }, `${randomUUID()}\n`, 0o600);
  return (await readId(file)) ?? '';
}

function anotherDirectoryError(directory: string): DataDirectoryError {
  return new DataDirectoryError(
    `the media directory ${directory} is not the one that the instances on this database share; mount that one here, or move it with all that is in it, ${ID_FILE} included`,
  );
}

async function readId(file: string): Promise<string | undefined> {
  return (await ignoreMissing(readFile(file, 'utf8')))?.trim();
}
