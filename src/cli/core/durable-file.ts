import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';

/**
 * Replaces a file whole or not at all; the new content is on disk once this resolves.
 *
 * @param mode of the new file
 * @param write writes the new content
 */
export async function replaceDurably(
  file: string,
  mode: number,
  write: (target: FileHandle) => Promise<void>,
): Promise<void> {
  const unfinished = `${file}.${process.pid}.tmp`;
  const target = await open(unfinished, 'w', mode);
  try {
    await write(target);
    await target.sync();
    await rename(unfinished, file);
    await syncDirectory(path.dirname(file));
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  } finally {
    await target.close();
  }
}

/** Makes the name of a new file survive a power cut; not every system can open a directory. */
export async function syncDirectory(directory: string): Promise<void> {
  try {
    const handle = await open(directory, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // The name may then be lost in a power cut that comes within seconds.
  }
}
