import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { AppendLog } from '../../../files/append-log.ts';
import { codeOf } from '../../../files/error-utils.ts';
import {
  fileIn,
  flushData,
  flushHandle,
  openBelow,
  PathFault,
  truncateBelow,
} from '../../../files/write-below.ts';
import { replaceFile } from '../../../files/write-file.ts';
import type { Context } from '../../context.ts';
import { type CliError, usageError } from '../../errors.ts';
import { fileFault } from '../../inputs/read-text.ts';
import { textLines } from '../../inputs/rows/text-lines.ts';
import { unwritable } from '../../jobs/job-journal.ts';
import {
  isTornLine,
  parseResultsLine,
  type ResultState,
  type Results,
  type ResultsLine,
  resultState,
} from './results-line.ts';

/** Results as lines of JSON. */
export class JsonlResults implements Results {
  readonly states: ReadonlyMap<string, ResultState>;
  readonly existed: boolean;
  readonly #file: string;
  readonly #handle: FileHandle;
  /** Whether a row may have more than one line. */
  #hasTwins: boolean;
  /** What must survive a power cut is in the batch's journal, so these need not be on disk before they are all there. */
  readonly #lines: AppendLog;

  private constructor(file: string, handle: FileHandle, read: Read) {
    this.#file = file;
    this.#handle = handle;
    this.#lines = AppendLog.on(handle, { durable: false });
    this.states = read.states;
    this.existed = read.existed;
    this.#hasTwins = read.hasTwins;
  }

  /** @throws {CliError} where the file exists and is not to be gone on with, or is not a file of results */
  static async open(
    ctx: Context,
    { out, resume }: { readonly out: string; readonly resume: boolean },
  ): Promise<JsonlResults> {
    const file = path.resolve(ctx.cwd, out);
    const handle = await openResultsFile(file, out, resume);
    try {
      return new JsonlResults(
        file,
        handle,
        await readStates(handle, { file, name: out }, line => ctx.io.note(line)),
      );
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async give(line: ResultsLine): Promise<boolean> {
    this.#hasTwins ||= this.states.has(line.id);
    await this.#lines.append(line).catch((error: unknown) => {
      throw unwritable(this.#file, error);
    });
    return true;
  }

  async finish(sorted: boolean): Promise<void> {
    await this.#lines.flush();
    if (sorted || this.#hasTwins) {
      await this.#rewrite(sorted);
    } else {
      await flushHandle(this.#handle);
    }
  }

  /** The last line of each row stays. */
  async #rewrite(sorted: boolean): Promise<void> {
    const lines = [...(await lastLines(this.#handle)).values()].sort((one, other) =>
      sorted ? one.row - other.row : one.start - other.start,
    );
    const copyLines = async (target: FileHandle): Promise<void> => {
      for (const { start, end } of lines) {
        const { buffer } = await this.#handle.read(Buffer.alloc(end - start), 0, end - start, start);
        await target.appendFile(buffer);
      }
      // Windows replaces no file that is open.
      await this.#lines.close();
    };
    await replaceFile(fileIn(this.#file), copyLines).catch((error: unknown) => {
      throw unwritable(this.#file, error);
    });
  }

  close(): Promise<void> {
    return this.#lines.close();
  }
}

/** Opens a file of results; a new one unless a batch is resumed. @throws {CliError} if it can't be opened or made */
export async function openResultsFile(file: string, name: string, resume: boolean): Promise<FileHandle> {
  const { O_RDWR, O_APPEND, O_CREAT, O_EXCL } = constants;
  try {
    return await openBelow(fileIn(file), O_RDWR | O_APPEND | O_CREAT | (resume ? 0 : O_EXCL));
  } catch (error) {
    throw openFault(error, file, name);
  }
}

/** Why a file of results can't be made or opened. */
export function openFault(error: unknown, file: string, name: string): CliError {
  if (error instanceof PathFault) throw error;
  const code = codeOf(error);
  if (code === 'EEXIST') return existsAlready(name);
  return code === 'ENOENT'
    ? usageError(`--out: there is no directory ${path.dirname(file)}`)
    : fileFault(error, name, '--out');
}

export function existsAlready(name: string): CliError {
  return usageError(
    `${name} exists already`,
    'add --resume to go on with the batch that wrote it, or name another file with --out',
  );
}

/** Shortens a file of results that `openResultsFile` opened. @throws {PathFault} and what the file system throws */
export async function cutAt(file: string, handle: FileHandle, length: number): Promise<void> {
  const { size } = await handle.stat();
  truncateBelow(fileIn(file), handle, size, length);
}

type Read = Awaited<ReturnType<typeof readStates>>;

/**
 * What a file of results says of each row, by the row's id. Reads every line before it mends a torn end: the file may
 * be another one, named by mistake.
 *
 * @throws {CliError} at the first line that is not a result
 */
async function readStates(
  handle: FileHandle,
  { file, name }: { readonly file: string; readonly name: string },
  note: (line: string) => void,
) {
  const states = new Map<string, ResultState>();
  let lines = 0;
  let hasTwins = false;
  let torn: PlacedLine | undefined;
  for await (const line of placedLines(handle)) {
    lines += 1;
    if (!line.isWhole) torn = line;
    const result = parseResultsLine(line.text);
    hasTwins ||= result !== undefined && states.has(result.id);
    if (result !== undefined) states.set(result.id, resultState(result));
    else if (line.isWhole || !isTornLine(line.text)) refuseLine(name, lines);
  }
  if (torn !== undefined) {
    // Kept if only its end is missing, else cut off; its row is known from the journal.
    if (parseResultsLine(torn.text) === undefined) await cutAt(file, handle, torn.start);
    else await handle.appendFile('\n');
    await flushData(handle);
    note(`note: the last line of ${name} was not written to its end and has been mended`);
  }
  return { states, existed: lines > 0, hasTwins };
}

function refuseLine(file: string, line: number): never {
  throw usageError(`${file}:${line}: this is not a result of a batch`, 'name the file the batch wrote');
}

interface PlacedLine {
  readonly text: string;
  /** In bytes, from the file's beginning. */
  readonly start: number;
  /** After its newline. */
  readonly end: number;
  /** Whether it has an end. */
  readonly isWhole: boolean;
}

async function* placedLines(handle: FileHandle): AsyncGenerator<PlacedLine> {
  const { size } = await handle.stat();
  const pieces = handle.createReadStream({ encoding: 'utf8', start: 0, autoClose: false });
  let start = 0;
  for await (const { text } of textLines(pieces as AsyncIterable<string>)) {
    const end = start + Buffer.byteLength(text) + 1;
    yield { text, start, end, isWhole: end <= size };
    start = end;
  }
}

/** Where the last line of each row is, by the row's id. */
async function lastLines(handle: FileHandle): Promise<Map<string, PlacedLine & { readonly row: number }>> {
  const places = new Map<string, PlacedLine & { readonly row: number }>();
  for await (const { text, ...place } of placedLines(handle)) {
    const line = parseResultsLine(text);
    if (line !== undefined) places.set(line.id, { ...place, text: '', row: line.row });
  }
  return places;
}
