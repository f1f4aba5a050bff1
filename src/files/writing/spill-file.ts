import { randomUUID } from 'node:crypto';
import { appendFileSync, constants, readSync } from 'node:fs';
import { type FileHandle, unlink } from 'node:fs/promises';
import path from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { openContainedFile } from './write-below.ts';

/**
 * A file for values that would fill the memory. It loses its name at once, so that nothing of it
 * stays on disk. Writing and reading are synchronous: the page cache is faster than a thread
 * switch.
 */
export class SpillFile {
  readonly #handle: FileHandle;
  #size = 0;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  static async open(folder: string): Promise<SpillFile> {
    const name = `.promptrun-${randomUUID()}`;
    const { O_RDWR, O_CREAT, O_EXCL } = constants;
    const handle = await openContainedFile({ folder, name }, O_RDWR | O_CREAT | O_EXCL, 0o600);
    await unlink(path.join(folder, name));
    return new SpillFile(handle);
  }

  /** Stores a value. Returns a function that reads a copy of it. */
  store<T>(value: T): () => T {
    const bytes = serialize(value);
    const { length } = bytes;
    const position = this.#size;
    appendFileSync(this.#handle.fd, bytes);
    this.#size += length;

    return () => {
      const stored = Buffer.alloc(length);
      const bytesRead = readSync(this.#handle.fd, stored, 0, length, position);
      if (bytesRead < length) {
        throw new Error('data in a spill file could not be read back completely');
      }
      return deserialize(stored) as T;
    };
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
