import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { splitIntoLines } from '../../../files/formats/text-lines.ts';
import { AppendLog } from '../../../files/writing/append-log.ts';
import { flushData, flushHandle, toContainedPath } from '../../../files/writing/write-below.ts';
import { replaceFile } from '../../../files/writing/write-file.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import { unwritableFileError } from '../../jobs/batch-journal.ts';
import { type ResultState, toResultState } from './result-state.ts';
import {
  openResultsFile,
  type ResultsSink,
  throwIfReplaced,
  truncateResults,
} from './results-file.ts';
import { isTornLine, parseResultsLine, type ResultsLine } from './results-line.ts';

export class JsonlResults implements ResultsSink {
  readonly states: Map<string, ResultState>;
  readonly hasEarlierResults: boolean;
  readonly #file: string;
  readonly #handle: FileHandle;
  /** True if a row may have more than one line. */
  #hasRepeatedRows: boolean;
  readonly #droppedIds = new Set<string>();
  /**
   * The lines are not synchronised to disk one by one, because the batch's journal survives a power
   * cut.
   */
  readonly #lines: AppendLog;

  private constructor(file: string, handle: FileHandle, readResult: ReadStates) {
    this.#file = file;
    this.#handle = handle;
    this.#lines = AppendLog.forHandle(handle, { isDurable: false });
    this.states = readResult.states;
    this.hasEarlierResults = readResult.hasEarlierResults;
    this.#hasRepeatedRows = readResult.hasRepeatedRows;
  }

  /**
   * Opens or creates the file.
   *
   * @throws {CliError} if the file exists without `--resume`, or is not a file of results
   */
  static async open(
    ctx: Context,
    { out, resume }: { readonly out: string; readonly resume: boolean },
  ): Promise<JsonlResults> {
    const file = path.resolve(ctx.cwd, out);
    const handle = await openResultsFile(file, out, { resume });
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

  drop(ids: ReadonlySet<string>): void {
    for (const id of ids) {
      this.states.delete(id);
      this.#droppedIds.add(id);
    }
  }

  async write(line: ResultsLine): Promise<boolean> {
    this.#hasRepeatedRows ||= this.states.has(line.id);
    await this.#lines.append(line).catch((error: unknown) => {
      throw unwritableFileError(this.#file, error);
    });
    return true;
  }

  async finish(isSorted: boolean): Promise<void> {
    await this.#lines.waitForPendingLines();
    await throwIfReplaced(this.#file, this.#handle);
    if (isSorted || this.#hasRepeatedRows || this.#droppedIds.size > 0) {
      await this.#rewrite(isSorted);
    } else {
      await flushHandle(this.#handle);
    }
  }

  close(): Promise<void> {
    return this.#lines.close();
  }

  /** Rewrites the file with only the last line of each row. */
  async #rewrite(isSorted: boolean): Promise<void> {
    const places = await findLastLines(this.#handle);
    for (const id of this.#droppedIds) places.delete(id);

    const lines = [...places.values()].sort((a, b) =>
      isSorted ? a.row - b.row : a.start - b.start,
    );
    const copyLines = async (target: FileHandle): Promise<void> => {
      for (const { start, end } of lines) {
        const length = end - start;
        const { buffer } = await this.#handle.read(Buffer.alloc(length), 0, length, start);
        await target.appendFile(buffer);
      }
      // Windows does not replace an open file.
      await this.#lines.close();
    };

    await replaceFile(toContainedPath(this.#file), copyLines).catch((error: unknown) => {
      throw unwritableFileError(this.#file, error);
    });
  }
}

type ReadStates = Awaited<ReturnType<typeof readStates>>;

/**
 * Reads the state of each row from a file of results, by row id. Reads every line before it repairs
 * a torn end, because the user may have named another file by mistake.
 *
 * @throws {CliError} for the first line that is not a result
 */
async function readStates(
  handle: FileHandle,
  { file, name }: { readonly file: string; readonly name: string },
  reportRepair: (line: string) => void,
) {
  const states = new Map<string, ResultState>();
  let lineCount = 0;

  let hasRepeatedRows = false;
  let tornLine: PlacedLine | undefined;
  for await (const line of readPlacedLines(handle)) {
    lineCount += 1;
    if (!line.isWhole) tornLine = line;
    const result = parseResultsLine(line.text);
    hasRepeatedRows ||= result !== undefined && states.has(result.id);
    if (result !== undefined) states.set(result.id, toResultState(result));
    else if (line.isWhole || !isTornLine(line.text)) refuseLine(name, lineCount);
  }

  if (tornLine !== undefined) {
    // Keep a line that lacks only its newline, else cut it off: the journal has its row.
    if (parseResultsLine(tornLine.text) === undefined) {
      await truncateResults(file, handle, tornLine.start);
    } else {
      await handle.appendFile('\n');
    }
    await flushData(handle);
    reportRepair(`note: the last line of ${name} was incomplete and has been repaired`);
  }

  return { states, hasEarlierResults: lineCount > 0, hasRepeatedRows };
}

function refuseLine(file: string, line: number): never {
  throw usageError(
    `${file}:${line}: this is not a result of a batch`,
    'Name the file that the batch wrote.',
  );
}

interface PlacedLine {
  readonly text: string;
  /** The offset in bytes from the beginning of the file. */
  readonly start: number;
  /** The offset after its newline. */
  readonly end: number;
  /** True if it ends in a newline. */
  readonly isWhole: boolean;
}

async function* readPlacedLines(handle: FileHandle): AsyncGenerator<PlacedLine> {
  const { size } = await handle.stat();
  const pieces = handle.createReadStream({ encoding: 'utf8', start: 0, autoClose: false });
  let start = 0;
  for await (const { text } of splitIntoLines(pieces as AsyncIterable<string>)) {
    const end = start + Buffer.byteLength(text) + 1;
    yield { text, start, end, isWhole: end <= size };
    start = end;
  }
}

/** Finds the last line of each row, by row id. */
async function findLastLines(
  handle: FileHandle,
): Promise<Map<string, PlacedLine & { readonly row: number }>> {
  const places = new Map<string, PlacedLine & { readonly row: number }>();
  for await (const { text, ...place } of readPlacedLines(handle)) {
    const line = parseResultsLine(text);
    if (line !== undefined) places.set(line.id, { ...place, text: '', row: line.row });
  }
  return places;
}
