import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { CliError, usageError } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import { fileFault } from '../inputs/read-text.ts';
import { syncDirectory } from '../settings/sync-directory.ts';
import { messageOf } from '../thrown.ts';
import type { RowState } from './results-line.ts';
import { lockFile, type Unlock } from './results-lock.ts';
import { readStates } from './results-states.ts';

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
 * @throws {CliError} where the file exists and is not to be gone on with, is in use, or is no file of results
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
