import { chmod, mkdir, open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../../thrown.ts';

/** The database's file name in the data directory. */
export const DATABASE_FILE = 'promptrun.db';

/** The data directory can't be used. The message names it and what to do. */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';
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

/** Makes the data directory (0700) and an empty database file (0600) where they are missing; returns the file. */
export async function prepareDataDirectory(dataDir: string): Promise<string> {
  await makeDirectory(dataDir);
  await closeToOthers(dataDir);
  const file = path.join(dataDir, DATABASE_FILE);
  // SQLite would make it as open as the umask allows; its -wal and -shm take over this mode.
  await (await open(file, 'a', 0o600)).close();
  return file;
}

/** Node's own recursive mkdir never comes back from where nothing can be made, such as /proc. */
async function makeDirectory(directory: string): Promise<void> {
  if (await isDirectory(directory)) return;
  const parent = path.dirname(directory);
  if (parent !== directory) await makeDirectory(parent);
  await mkdir(directory, { mode: 0o700 }).catch(async (error: unknown) => {
    // Another process was faster.
    if (!(await isDirectory(directory))) throw error;
  });
}

async function isDirectory(file: string): Promise<boolean> {
  return await stat(file).then(
    found => found.isDirectory(),
    () => false,
  );
}

/** What a data directory may hold before its first start. */
const PUT_THERE_FIRST = ['models.yaml'];

/** A directory that holds other things as well keeps the mode its owner gave it. */
async function closeToOthers(dataDir: string): Promise<void> {
  const entries = await readdir(dataDir);
  const ours = entries.includes(DATABASE_FILE) || entries.every(name => PUT_THERE_FIRST.includes(name));
  if (ours) await chmod(dataDir, 0o700).catch(unlessSomebodyElses);
}

/** A volume that was mounted for this program may belong to somebody else, who alone may change its mode. */
function unlessSomebodyElses(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPERM') throw error;
}
