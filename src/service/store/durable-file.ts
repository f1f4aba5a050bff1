import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from '../error-utils.ts';

/** Writes a file (0600) whole or not at all; it is on disk once this resolves. Its directory is made (0700). */
export async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  await makeDirectory(path.dirname(file));
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

/**
 * Makes a directory (0700) and those above it that are missing; they are on disk once this resolves. Node's own
 * recursive mkdir never comes back from where nothing can be made, such as /proc.
 */
export async function makeDirectory(directory: string): Promise<void> {
  if (await isDirectory(directory)) return;
  const above = path.dirname(directory);
  if (above !== directory) await makeDirectory(above);
  await mkdir(directory, { mode: 0o700 }).catch(async (error: unknown) => {
    // Another process was faster.
    if (!(await isDirectory(directory))) throw error;
  });
  await syncDirectory(above).catch(unlessUnreadable);
}

async function isDirectory(file: string): Promise<boolean> {
  return await stat(file).then(
    found => found.isDirectory(),
    () => false,
  );
}

/** A directory may be one to write to and not to read, and what can't be opened can't be synced. */
function unlessUnreadable(error: unknown): void {
  if (codeOf(error) !== 'EACCES') throw error;
}
