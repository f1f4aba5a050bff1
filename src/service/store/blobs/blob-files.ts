import { open, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { makeContainedFolder } from '../../../files/writing/write-below.ts';
import { replaceFile } from '../../../files/writing/write-file.ts';
import { ignoreMissing, isDiskFullError } from '../../../utils/error-utils.ts';
import { DiskFullError } from '../store-errors.ts';
import type { Blobs } from './blobs.ts';

/** Returns blobs that are files below a directory, which the first write creates. */
export function createBlobFiles(directory: string): Blobs {
  const toBlobPath = (name: string): string => path.join(directory, name);
  return {
    async write(name, bytes) {
      const file = { folder: directory, name };
      try {
        makeContainedFolder({ folder: directory, name: path.dirname(name) }, 0o700);
        await replaceFile(file, bytes, 0o600);
      } catch (error) {
        throw isDiskFullError(error) ? new DiskFullError(directory, error) : error;
      }
    },
    async open(name, range) {
      const file = await ignoreMissing(open(toBlobPath(name)));
      return file?.createReadStream(range && { start: range.from, end: range.to });
    },
    remove: name => rm(toBlobPath(name), { recursive: true, force: true }),
    listWrittenBefore: time => listWrittenBefore(directory, time),
  };
}

/**
 * Returns the entries of a directory last modified before a time, in milliseconds since the Unix
 * epoch.
 */
export async function listWrittenBefore(directory: string, time: number): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  const oldNames = await Promise.all(
    names.map(async name => {
      // Its owner may have removed it in the meantime.
      const stats = await stat(path.join(directory, name)).catch(() => undefined);
      return stats && stats.mtimeMs < time ? [name] : [];
    }),
  );
  return oldNames.flat();
}
