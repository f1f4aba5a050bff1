import { open, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from '../error-utils.ts';
import { writeDurably } from './durable-file.ts';
import type { Blobs } from './store.ts';

/** Bytes as files below a directory, which is made with the first. */
export function blobFiles(directory: string): Blobs {
  const fileOf = (name: string): string => path.join(directory, name);
  return {
    write: (name, bytes) => writeDurably(fileOf(name), bytes),
    async open(name) {
      try {
        return (await open(fileOf(name))).createReadStream();
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return undefined;
        throw error;
      }
    },
    remove: name => rm(fileOf(name), { recursive: true, force: true }),
    async writtenBefore(time) {
      const names = await readdir(directory).catch(() => []);
      const old = await Promise.all(
        names.map(async name => {
          const found = await stat(fileOf(name)).catch(() => undefined);
          return found && found.mtimeMs < time ? [name] : [];
        }),
      );
      return old.flat();
    },
  };
}
