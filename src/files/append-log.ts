import { appendFileSync, constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from './error-utils.ts';
import { lockFile } from './lock.ts';
import {
  type FileBelow,
  flushData,
  makeFolderBelow,
  openBelow,
  syncDirectory,
  truncateBelow,
} from './write-below.ts';

const NEWLINE = 0x0a;
const PIECE_BYTES = 256 * 1024;
/** How long another process may take to write a line, in milliseconds. */
const SETTLE_MS = 50;

export interface AppendLogOptions {
  /** Bytes of its own after which the file is opened again; never by default. */
  readonly reopenAfter?: number;
  /** Whether a line that was appended survives a power cut, and not only the end of the process. Default true. */
  readonly durable?: boolean;
}

/** How one line is written. */
export interface LineOptions {
  /** False if the line needs no flush of its own: it goes to the disk with the next that does, or when the log is closed. */
  readonly durable?: boolean;
}

/**
 * A file that grows by lines of JSON, open already or opened at the first one, and kept open. Lines that come while
 * others are being written go to the disk together, with one flush.
 */
export class AppendLog {
  readonly #open: () => Promise<FileHandle>;
  readonly #reopenAfter: number;
  readonly #durable: boolean;
  #handle: FileHandle | undefined;
  #written = 0;
  #waiting: string[] = [];
  /** Whether something that waits has to be flushed, and something that was written has not been. */
  #isFlushWanted = false;
  #isUnflushed = false;
  #group: Promise<void> | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    open: () => Promise<FileHandle>,
    { reopenAfter = Number.POSITIVE_INFINITY, durable = true }: AppendLogOptions = {},
  ) {
    this.#open = open;
    this.#reopenAfter = reopenAfter;
    this.#durable = durable;
  }

  /** Lines added to a file that is open already, and is closed with them even if there are none. */
  static on(handle: FileHandle, options: Pick<AppendLogOptions, 'durable'> = {}): AppendLog {
    const lines = new AppendLog(() => Promise.reject(new Error('the file is closed')), options);
    lines.#handle = handle;
    return lines;
  }

  /** Resolves once the line is written, durably by default. Once a line could not be written, no other is. */
  append(value: object, { durable = this.#durable }: LineOptions = {}): Promise<void> {
    this.#waiting.push(`${JSON.stringify(value)}\n`);
    this.#isFlushWanted ||= durable;
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
    await this.#closeFile().catch(() => {});
  }

  async #closeFile(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    try {
      if (handle !== undefined && this.#durable && this.#isUnflushed) await this.#flushNow(handle);
    } finally {
      await handle?.close();
    }
  }

  async #writeGroup(): Promise<void> {
    const text = this.#waiting.join('');
    const isFlushWanted = this.#isFlushWanted;
    [this.#waiting, this.#isFlushWanted] = [[], false];
    this.#group = undefined;
    const handle = await this.#fresh();
    // A write ends in the system's memory, sooner than another thread could be asked for it; the flush takes time.
    appendFileSync(handle.fd, text);
    this.#written += text.length;
    this.#isUnflushed = true;
    if (isFlushWanted) await this.#flushNow(handle);
  }

  async #flushNow(handle: FileHandle): Promise<void> {
    this.#isUnflushed = false;
    await flushData(handle);
  }

  async #fresh(): Promise<FileHandle> {
    if (this.#handle !== undefined && this.#written < this.#reopenAfter) return this.#handle;
    await this.#closeFile();
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

/**
 * Opens a log to read it and to append to it, readable by its owner only; it and its directory are made if they are
 * missing. A last line that a crash tore, or a tail of NULs that a power cut left, is cut off: what it announced is in
 * doubt.
 *
 * @throws {LinkFault} and what the file system throws
 */
export async function openForAppend(file: FileBelow): Promise<FileHandle> {
  const handle = await openOrMake(file, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT);
  try {
    await cutTornLine(handle, file);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openOrMake(file: FileBelow, flags: number): Promise<FileHandle> {
  try {
    return await openBelow(file, flags, 0o600);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    const directory = makeFolderBelow({ ...file, name: path.dirname(file.name) }, 0o700);
    const made = await openBelow(file, flags, 0o600);
    await syncDirectory(directory);
    return made;
  }
}

async function cutTornLine(handle: FileHandle, file: FileBelow): Promise<void> {
  for (;;) {
    const { size } = await handle.stat();
    const whole = await endOfLastLine(handle, size);
    if (whole === size) return;
    // Another process may be in the middle of this line, or cut it off itself and go on.
    await sleep(SETTLE_MS);
    const release = lockFile(file);
    if (release === undefined) continue;
    try {
      if (!truncateBelow(file, handle, size, whole)) return;
    } finally {
      release();
    }
  }
}

/** Where what follows the last newline begins. */
async function endOfLastLine(handle: FileHandle, size: number): Promise<number> {
  for (let end = size; end > 0; ) {
    // What ends with a newline is known by its last byte.
    const start = end === size ? size - 1 : Math.max(0, end - PIECE_BYTES);
    const { buffer } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
    const at = buffer.lastIndexOf(NEWLINE);
    if (at !== -1) return start + at + 1;
    end = start;
  }
  return 0;
}

/** The lines of a log from its last to its first, several at a time; what follows the last newline comes first. */
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
