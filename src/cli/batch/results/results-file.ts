import { constants } from 'node:fs';
import { access, type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import type { Context } from '../../context.ts';
import { messageOf } from '../../core/error-utils.ts';
import { syncDirectory } from '../../core/sync-directory.ts';
import { CliError, usageError } from '../../errors.ts';
import { EXIT } from '../../exit-codes.ts';
import { fileFault } from '../../inputs/read-text.ts';
import { printRow } from '../../outputs/json.ts';
import type { BatchOptions } from '../options.ts';
import { textLines } from '../rows/text-lines.ts';
import {
  isTornLine,
  parseResultsLine,
  type ResultsLine,
  type RowState,
  readTornLine,
} from './results-line.ts';
import { lockFile, type Unlock } from './results-lock.ts';

/** The results of a batch on disk, held by this process. */
export interface ResultsFile {
  /** What the file said of each row when it was opened, by the row's id; its last line counts. */
  readonly states: ReadonlyMap<string, RowState>;
  /** Resolves once the line is on disk. @throws {CliError} where it can't be written, from then on always */
  append(line: string): Promise<void>;
  /** Waits for what is being written, then lets go of the file. */
  close(): Promise<void>;
}

/**
 * Opens the results to go on with them, or makes them.
 *
 * @throws {CliError} where the file exists and is not to be gone on with, is in use, or is not a file of results
 */
export async function openResults(
  file: string,
  options: { readonly cwd: string; readonly resume: boolean; readonly note: (line: string) => void },
): Promise<ResultsFile> {
  const handle = await openHandle(path.resolve(options.cwd, file), file, options.resume);
  let unlock: Unlock | undefined;
  try {
    unlock = await lockFile(await handle.stat({ bigint: true }));
    if (unlock === undefined) {
      throw usageError(
        `another batch is writing to ${file}`,
        'wait until it ends, or name another file with --out',
      );
    }
    const states = await readStates(handle, file, options.note);
    return { states, ...appender(handle, file, unlock) };
  } catch (error) {
    await handle.close();
    await unlock?.();
    throw error;
  }
}

async function openHandle(file: string, given: string, resume: boolean): Promise<FileHandle> {
  const { O_RDWR, O_APPEND, O_CREAT, O_EXCL } = constants;
  try {
    const handle = await open(file, O_RDWR | O_APPEND | O_CREAT | (resume ? 0 : O_EXCL), 0o666);
    await syncDirectory(path.dirname(file));
    return handle;
  } catch (error) {
    throw openFault(error as NodeJS.ErrnoException, file, given);
  }
}

export function existsAlready(given: string): CliError {
  return usageError(
    `${given} exists already`,
    'add --resume to go on with the batch that wrote it, or name another file with --out',
  );
}

function openFault(error: NodeJS.ErrnoException, file: string, given: string): CliError {
  if (error.code === 'EEXIST') {
    return existsAlready(given);
  }
  return error.code === 'ENOENT'
    ? usageError(`--out: there is no directory ${path.dirname(file)}`)
    : fileFault(error, given, '--out');
}

/** Lines that come while others are being written go to the disk together. */
function appender(handle: FileHandle, file: string, unlock: Unlock): Pick<ResultsFile, 'append' | 'close'> {
  let waiting: string[] = [];
  let writing: Promise<void> = Promise.resolve();
  const write = async (): Promise<void> => {
    const lines = waiting;
    waiting = [];
    if (lines.length > 0) {
      await handle.appendFile(lines.join(''));
      await handle.datasync();
    }
  };
  return {
    async append(line) {
      waiting.push(`${line}\n`);
      writing = writing.then(write);
      await writing.catch((error: unknown) => {
        throw writeFault(error, file);
      });
    },
    async close() {
      await writing.catch(() => {});
      await handle.close();
      await unlock();
    },
  };
}

function writeFault(cause: unknown, file: string): CliError {
  const reason = messageOf(cause);
  return new CliError(`${file} can't be written: ${reason}`, {
    status: 'FILE_ERROR',
    exitCode: EXIT.fault,
    hints: ['No more rows were started. Make room, then go on with --resume.'],
    cause,
  });
}

/** Where a batch's results go. */
export interface Results {
  /** What is known of rows from before, by their ids. */
  readonly states: ReadonlyMap<string, RowState>;
  /** Keeps where a row has got to; resolves once it would survive a power cut. */
  keep(line: object): Promise<void>;
  /** Gives what became of a row. False once nobody reads it any more. */
  give(line: ResultsLine): Promise<boolean>;
  close(): Promise<void>;
}

/** Refuses a file that must not be written to before anything is asked of the service. */
export async function checkOut(ctx: Context, { out, resume }: BatchOptions): Promise<void> {
  if (out === undefined || resume) {
    return;
  }
  const exists = await access(path.resolve(ctx.cwd, out)).then(
    () => true,
    () => false,
  );
  if (exists) {
    throw existsAlready(out);
  }
}

/** A file that holds each step, or standard output, which shows only how rows end. */
export async function openResultsOf(ctx: Context, { out, resume }: BatchOptions): Promise<Results> {
  if (out === undefined) {
    return {
      states: new Map(),
      keep: async () => {},
      give: line => printRow(ctx, line),
      close: async () => {},
    };
  }
  const file = await openResults(out, { cwd: ctx.cwd, resume, note: line => ctx.io.note(line) });
  const append = (line: object): Promise<void> => file.append(JSON.stringify(line));
  return {
    states: file.states,
    keep: append,
    give: async line => {
      await append(line);
      return true;
    },
    close: () => file.close(),
  };
}

/**
 * What a file of results says of each row, by the row's id. Reads every line before it mends a torn end: the file may
 * be another one, named by mistake.
 *
 * @throws {CliError} at the first line that is not a result
 */
export async function readStates(
  handle: FileHandle,
  file: string,
  note: (line: string) => void,
): Promise<Map<string, RowState>> {
  const states = new Map<string, RowState>();
  let lines = 0;
  const take = (text: string): void => {
    lines += 1;
    const { id, state } = parseResultsLine(text) ?? refuseLine(file, lines);
    states.set(id, state);
  };
  const end = await readEnd(handle);
  for await (const { text } of textLines(wholeLines(handle, end.start))) {
    take(text);
  }
  if (end.text !== '') {
    if (!(await mendEnd(handle, end))) {
      refuseLine(file, lines + 1);
    }
    note(`note: the last line of ${file} was not written to its end and has been mended`);
    const mended = (await handle.stat()).size;
    for await (const { text } of textLines(wholeLines(handle, mended, end.start))) {
      take(text);
    }
  }
  return states;
}

function refuseLine(file: string, line: number): never {
  throw usageError(`${file}, line ${line}: this is not a result of a batch`, 'name the file the batch wrote');
}

async function* wholeLines(handle: FileHandle, end: number, start = 0): AsyncGenerator<string> {
  if (end > start) {
    yield* handle.createReadStream({
      encoding: 'utf8',
      start,
      end: end - 1,
      autoClose: false,
    }) as AsyncIterable<string>;
  }
}

const PIECE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** What follows the last newline of a file: empty, unless a crash tore the last line. */
export interface FileEnd {
  /** Where it begins. */
  readonly start: number;
  readonly text: string;
}

export async function readEnd(handle: FileHandle): Promise<FileEnd> {
  const { size } = await handle.stat();
  const start = await lastLineStart(handle, size);
  const { buffer } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
  return { start, text: buffer.toString('utf8') };
}

/** Ends a torn line: kept where it is whole, else cut off but for its run id. False where it is not a line of results. */
export async function mendEnd(handle: FileHandle, { start, text }: FileEnd): Promise<boolean> {
  if (parseResultsLine(text) !== undefined) {
    await handle.appendFile('\n');
  } else if (isTornLine(text)) {
    await handle.truncate(start);
    const known = readTornLine(text);
    await handle.appendFile(known === undefined ? '' : `${JSON.stringify(known)}\n`);
  } else {
    return false;
  }
  await handle.datasync();
  return true;
}

/** Where what follows the last newline begins. */
async function lastLineStart(handle: FileHandle, size: number): Promise<number> {
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - PIECE_BYTES);
    const { buffer } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
    const at = buffer.lastIndexOf(NEWLINE);
    if (at !== -1) {
      return start + at + 1;
    }
    end = start;
  }
  return 0;
}
