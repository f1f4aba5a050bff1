import { randomUUID } from 'node:crypto';
import { appendFileSync, constants } from 'node:fs';
import { type FileHandle, unlink } from 'node:fs/promises';
import path from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { openBelow } from './write-below.ts';

const SPILLED_PIECE_BYTES = 256 * 1024;

/** A file for values that would fill the memory. It loses its name at once, so that nothing of it stays on disk. */
export class SpillFile {
  readonly #handle: FileHandle;
  #written = 0;
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  static async open(folder: string): Promise<SpillFile> {
    const name = `.promptrun-${randomUUID()}`;
    const { O_RDWR, O_CREAT, O_EXCL } = constants;
    const handle = await openBelow({ folder, name }, O_RDWR | O_CREAT | O_EXCL, 0o600);
    await unlink(path.join(folder, name));
    return new SpillFile(handle);
  }

  /** Stores a value. Returns a function that reads a copy of it. */
  store<T>(value: T): () => Promise<T> {
    const bytes = serialize(value);
    const { length } = bytes;
    const position = this.#written + this.#pendingBytes;
    this.#pending.push(bytes);
    this.#pendingBytes += length;
    if (this.#pendingBytes >= SPILLED_PIECE_BYTES) this.#write();
    return async () => {
      if (position + length > this.#written) this.#write();
      const { buffer, bytesRead } = await this.#handle.read(Buffer.alloc(length), 0, length, position);
      if (bytesRead < length) throw new Error('what was put aside could not be read back whole');
      return deserialize(buffer) as T;
    };
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  #write(): void {
    appendFileSync(this.#handle.fd, Buffer.concat(this.#pending));
    this.#written += this.#pendingBytes;
    [this.#pending, this.#pendingBytes] = [[], 0];
  }
}
