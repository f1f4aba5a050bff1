import { appendFileSync, constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { syncDirectory } from './durable-file.ts';
import { codeOf } from './error-utils.ts';
import { makeDirectory } from './make-directory.ts';

const NEWLINE = 0x0a;

export interface LineFileOptions {
  /** Bytes of its own after which the file is opened again; never by default. */
  readonly reopenAfter?: number;
  /** Whether a line that was appended survives a power cut, and not only the end of the process. Default true. */
  readonly durable?: boolean;
}

/**
 * A file that grows by lines, open already or opened at the first one, and kept open. Lines that come while others are
 * being written go to the disk together, with one flush.
 */
export class LineFile {
  readonly #open: () => Promise<FileHandle>;
  readonly #reopenAfter: number;
  readonly #durable: boolean;
  #handle: FileHandle | undefined;
  #written = 0;
  #waiting: string[] = [];
  #group: Promise<void> | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    open: () => Promise<FileHandle>,
    { reopenAfter = Number.POSITIVE_INFINITY, durable = true }: LineFileOptions = {},
  ) {
    this.#open = open;
    this.#reopenAfter = reopenAfter;
    this.#durable = durable;
  }

  /** Lines added to a file that is open already, and is closed with them even if there are none. */
  static on(handle: FileHandle, options: Pick<LineFileOptions, 'durable'> = {}): LineFile {
    const lines = new LineFile(() => Promise.reject(new Error('the file is closed')), options);
    lines.#handle = handle;
    return lines;
  }

  /** Resolves once the line is written, durably unless said otherwise. Once a line could not be written, no other is. */
  append(value: object): Promise<void> {
    this.#waiting.push(`${JSON.stringify(value)}\n`);
    if (this.#group === undefined) {
      this.#group = this.#writing.then(untilTurnEnds).then(() => this.#writeGroup());
      this.#writing = this.#group;
      this.#writing.catch(() => {});
    }
    return this.#group;
  }

  /** Resolves once nothing waits to be written any more. Never rejects. */
  async flush(): Promise<void> {
    await this.#writing.catch(() => {});
  }

  /** Waits for what is being written, then closes the file; it may be opened again. Never rejects. */
  async close(): Promise<void> {
    await this.flush();
    await this.#handle?.close().catch(() => {});
    this.#handle = undefined;
  }

  async #writeGroup(): Promise<void> {
    const text = this.#waiting.join('');
    this.#waiting = [];
    this.#group = undefined;
    const handle = await this.#fresh();
    // A write ends in the system's memory, sooner than another thread could be asked for it; the flush takes time.
    appendFileSync(handle.fd, text);
    this.#written += text.length;
    if (this.#durable) await handle.datasync();
  }

  async #fresh(): Promise<FileHandle> {
    if (this.#handle !== undefined && this.#written < this.#reopenAfter) return this.#handle;
    await this.#handle?.close();
    this.#written = 0;
    this.#handle = await this.#open();
    return this.#handle;
  }
}

/** Lines of one turn of the event loop, such as the end of a run and the start of the next, share a flush. */
function untilTurnEnds(): Promise<void> {
  return new Promise(resolve => {
    setImmediate(resolve);
  });
}

/** Opens a file to append to it, readable by its owner only; it and its directory are made where they are missing. */
export async function openForAppend(file: string): Promise<FileHandle> {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;
  try {
    return await open(file, flags, 0o600);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    makeDirectory(path.dirname(file), 0o700);
    const created = await open(file, flags, 0o600);
    await syncDirectory(path.dirname(file));
    return created;
  }
}

/** Ends a last line that a crash tore, so that it spoils no other. */
export async function endTornLine(handle: FileHandle, size: number): Promise<void> {
  if (size === 0) return;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  if (buffer[0] !== NEWLINE) await handle.appendFile('\n');
}

const PIECE_BYTES = 256 * 1024;

/** The lines of a file from its last to its first, several at a time; what follows the last newline comes first. */
export async function* linesBackwards(handle: FileHandle): AsyncGenerator<string[]> {
  let { size: end } = await handle.stat();
  let rest: Buffer[] = [];
  while (end > 0) {
    const start = Math.max(0, end - PIECE_BYTES);
    const { buffer } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
    end = start;
    const first = start === 0 ? -1 : buffer.indexOf(NEWLINE);
    if (first === -1 && start > 0) {
      rest = [buffer, ...rest];
      continue;
    }
    const whole = Buffer.concat([buffer.subarray(first + 1), ...rest]);
    rest = [buffer.subarray(0, first + 1)];
    yield whole.toString('utf8').split('\n').reverse();
  }
}
