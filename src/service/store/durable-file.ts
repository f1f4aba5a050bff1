import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';

/** Writes a file (0600) whole or not at all; it is on disk once this resolves. Its directory is made (0700). */
export async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  await makeDurably(path.dirname(file));
  const unfinished = `${file}.part`;
  try {
    await writeAndSync(unfinished, bytes);
    await rename(unfinished, file);
    await syncDirectory(path.dirname(file));
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** A directory that is new is only on disk once the one above it is. */
async function makeDurably(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let above = path.dirname(directory); ; above = path.dirname(above)) {
    await syncDirectory(above);
    if (above === path.dirname(first)) return;
  }
}

async function writeAndSync(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A new name is only on disk once its directory is; Windows neither needs nor allows it. */
export async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
