import { appendFileSync, constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getErrorCode } from '../../utils/error-utils.ts';
import { lockFile } from './lock.ts';
import {
  type ContainedPath,
  flushData,
  makeContainedFolder,
  openContainedFile,
  syncDirectory,
  truncateContainedFile,
} from './write-below.ts';

const NEWLINE = 0x0a;
const LOG_PIECE_BYTES = 256 * 1024;

/** Time for another process to finish writing a line, in milliseconds. */
const LOG_SETTLE_MS = 50;

export interface AppendLogOptions {
  /** Number of written bytes after which the file is reopened; default never. */
  readonly reopenAfterBytes?: number;
  /**
   * True if appended lines must survive a power cut, not only the end of the process; default true.
   */
  readonly isDurable?: boolean;
}

export interface LineOptions {
  /** False to leave the flush to a later line or to `close`; default as for the log. */
  readonly isDurable?: boolean;
}

/**
 * A file of JSON lines, opened at the first append and kept open. Lines that arrive while others
 * are being written share one flush.
 */
export class AppendLog {
  readonly #open: () => Promise<FileHandle>;
  readonly #reopenAfterBytes: number;
  readonly #isDurable: boolean;
  #handle: FileHandle | undefined;
  #writtenBytes = 0;
  #waitingLines: string[] = [];
  /** True if a waiting line needs a flush. */
  #isFlushWanted = false;
  /** True if written lines have not been flushed. */
  #isUnflushed = false;
  #nextGroup: Promise<void> | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    open: () => Promise<FileHandle>,
    { reopenAfterBytes = Number.POSITIVE_INFINITY, isDurable = true }: AppendLogOptions = {},
  ) {
    this.#open = open;
    this.#reopenAfterBytes = reopenAfterBytes;
    this.#isDurable = isDurable;
  }

  /** Returns a log for an open file, which `close` closes. */
  static forHandle(
    handle: FileHandle,
    options: Pick<AppendLogOptions, 'isDurable'> = {},
  ): AppendLog {
    const log = new AppendLog(() => Promise.reject(new Error('the file is closed')), options);
    log.#handle = handle;
    return log;
  }

  /**
   * Appends a line; resolves once it is written, by default durably. After a failed write every
   * other one fails.
   */
  append(value: object, { isDurable = this.#isDurable }: LineOptions = {}): Promise<void> {
    this.#waitingLines.push(`${JSON.stringify(value)}\n`);
    this.#isFlushWanted ||= isDurable;

    if (this.#nextGroup === undefined) {
      this.#nextGroup = this.#writing.then(waitForTurnEnd).then(() => this.#writeGroup());
      this.#writing = this.#nextGroup;
      this.#writing.catch(() => {});
    }

    return this.#nextGroup;
  }

  /** Resolves once all lines are written. Never rejects. */
  async waitForPendingLines(): Promise<void> {
    await this.#writing.catch(() => {});
  }

  /**
   * Waits for pending lines, then closes the file. A later append opens it again. Never rejects.
   */
  async close(): Promise<void> {
    await this.waitForPendingLines();
    await this.#closeFile().catch(() => {});
  }

  async #closeFile(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    try {
      if (handle !== undefined && this.#isDurable && this.#isUnflushed) {
        await this.#flushNow(handle);
      }
    } finally {
      await handle?.close();
    }
  }

  async #writeGroup(): Promise<void> {
    const text = this.#waitingLines.join('');
    const isFlushWanted = this.#isFlushWanted;
    this.#waitingLines = [];
    this.#isFlushWanted = false;
    this.#nextGroup = undefined;
    const handle = await this.#openHandle();

    // A write only reaches the page cache, which is faster than a thread switch; the flush takes
    // time.
    appendFileSync(handle.fd, text);
    this.#writtenBytes += Buffer.byteLength(text);
    this.#isUnflushed = true;
    if (isFlushWanted) await this.#flushNow(handle);
  }

  async #flushNow(handle: FileHandle): Promise<void> {
    this.#isUnflushed = false;
    await flushData(handle);
  }

  async #openHandle(): Promise<FileHandle> {
    if (this.#handle !== undefined && this.#writtenBytes < this.#reopenAfterBytes) {
      return this.#handle;
    }
    await this.#closeFile();
    this.#writtenBytes = 0;
    this.#handle = await this.#open();
    return this.#handle;
  }
}

/** Waits for the end of a turn of the event loop, so that its lines share a flush. */
function waitForTurnEnd(): Promise<void> {
  return new Promise(resolve => {
    setImmediate(resolve);
  });
}

/**
 * Opens a log for reading and appending, readable by its owner only. Creates it and its directory
 * if they are missing. Cuts off an incomplete last line after a crash, or NULs after a power cut:
 * whatever it recorded is unknown.
 *
 * @throws {LinkFault} or file system errors
 */
export async function openForAppend(file: ContainedPath): Promise<FileHandle> {
  const handle = await openOrMake(file, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT);
  try {
    await cutTornLine(handle, file);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openOrMake(file: ContainedPath, flags: number): Promise<FileHandle> {
  try {
    return await openContainedFile(file, flags, 0o600);
  } catch (error) {
    if (getErrorCode(error) !== 'ENOENT') throw error;
    const directory = makeContainedFolder({ ...file, name: path.dirname(file.name) }, 0o700);
    const handle = await openContainedFile(file, flags, 0o600);
    await syncDirectory(directory);
    return handle;
  }
}

async function cutTornLine(handle: FileHandle, file: ContainedPath): Promise<void> {
  // Repeats, because another process may append meanwhile.
  while (true) {
    const { size } = await handle.stat();
    const completeSize = await findLastLineEnd(handle, size);
    if (completeSize === size) return;

    // Another process may be writing this line, or may cut it off itself.
    await sleep(LOG_SETTLE_MS);
    const release = lockFile(file);
    if (release === undefined) continue;

    try {
      const sizes = { expectedSize: size, newSize: completeSize };
      if (!truncateContainedFile(file, handle, sizes)) return;
    } finally {
      release();
    }
  }
}

/** Returns the offset after the last newline. */
async function findLastLineEnd(handle: FileHandle, size: number): Promise<number> {
  for (let end = size; end > 0; ) {
    // The first read is the last byte: it is enough if the file ends with a newline.
    const start = end === size ? size - 1 : Math.max(0, end - LOG_PIECE_BYTES);
    const { buffer } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
    const newlineIndex = buffer.lastIndexOf(NEWLINE);
    if (newlineIndex !== -1) return start + newlineIndex + 1;
    end = start;
  }
  return 0;
}

/**
 * Yields the lines of a log from last to first, several at a time. Text after the last newline
 * comes first.
 */
export async function* readLinesBackwards(handle: FileHandle): AsyncGenerator<string[]> {
  let { size: end } = await handle.stat();
  let lineEndPieces: Buffer[] = [];
  while (end > 0) {
    const start = Math.max(0, end - LOG_PIECE_BYTES);
    const { buffer } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
    end = start;

    const firstNewline = start === 0 ? -1 : buffer.indexOf(NEWLINE);
    if (firstNewline === -1 && start > 0) {
      lineEndPieces = [buffer, ...lineEndPieces];
      continue;
    }

    const completeLines = Buffer.concat([buffer.subarray(firstNewline + 1), ...lineEndPieces]);
    lineEndPieces = [buffer.subarray(0, firstNewline + 1)];
    yield completeLines.toString('utf8').split('\n').reverse();
  }
}
