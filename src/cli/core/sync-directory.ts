import { open } from 'node:fs/promises';

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
