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
import { mayBeResultsLine, parseResultsLine, type ResultsLine } from './results-line.ts';

/**
 * Results as JSON, one line for each result; a row that was run again has several until the end.
 */
export class JsonlResults implements ResultsSink {
  readonly states: Map<string, ResultState>;
  readonly hasEarlierResults: boolean;
  readonly #filePath: string;
  readonly #handle: FileHandle;
  /** True if a row may have more than one line. */
  #hasRepeatedRows: boolean;
  readonly #droppedIds = new Set<string>();
  /**
   * The lines are not synchronised to disk one by one, because the batch's journal survives a power
   * cut.
   */
  readonly #log: AppendLog;

  private constructor(filePath: string, handle: FileHandle, earlierResults: EarlierResults) {
    this.#filePath = filePath;
    this.#handle = handle;
    this.#log = AppendLog.forHandle(handle, { isDurable: false });
    this.states = earlierResults.states;
    this.hasEarlierResults = earlierResults.hasEarlierResults;
    this.#hasRepeatedRows = earlierResults.hasRepeatedRows;
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
    const filePath = path.resolve(ctx.cwd, out);
    const handle = await openResultsFile(filePath, out, { resume });
    try {
      return new JsonlResults(
        filePath,
        handle,
        await readEarlierResults(handle, { filePath, name: out }, line => ctx.io.note(line)),
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
    await this.#log.append(line).catch((error: unknown) => {
      throw unwritableFileError(this.#filePath, error);
    });
    return true;
  }

  async finish(isSorted: boolean): Promise<void> {
    await this.#log.waitForPendingLines();
    await throwIfReplaced(this.#filePath, this.#handle);
    if (isSorted || this.#hasRepeatedRows || this.#droppedIds.size > 0) {
      await this.#rewrite(isSorted);
    } else {
      await flushHandle(this.#handle);
    }
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  /** Rewrites the file with only the last line of each row. */
  async #rewrite(isSorted: boolean): Promise<void> {
    const lastLines = await findLastLines(this.#handle);
    for (const id of this.#droppedIds) lastLines.delete(id);

    const orderedLines = [...lastLines.values()].sort((a, b) =>
      isSorted ? a.row - b.row : a.start - b.start,
    );
    const copyLines = async (target: FileHandle): Promise<void> => {
      for (const { start, end } of orderedLines) {
        const length = end - start;
        const { buffer } = await this.#handle.read(Buffer.alloc(length), 0, length, start);
        await target.appendFile(buffer);
      }
      // Windows does not replace an open file.
      await this.#log.close();
    };

    await replaceFile(toContainedPath(this.#filePath), copyLines).catch((error: unknown) => {
      throw unwritableFileError(this.#filePath, error);
    });
  }
}

type EarlierResults = Awaited<ReturnType<typeof readEarlierResults>>;

/**
 * Reads the state of each row from a file of results, by row id. Reads every line before it repairs
 * a torn end, because the user may have named another file by mistake.
 *
 * @throws {CliError} for the first line that is not a result
 */
async function readEarlierResults(
  handle: FileHandle,
  { filePath, name }: { readonly filePath: string; readonly name: string },
  reportRepair: (line: string) => void,
) {
  const states = new Map<string, ResultState>();
  let lineCount = 0;

  let hasRepeatedRows = false;
  let tornLine: PlacedLine | undefined;
  for await (const line of readPlacedLines(handle)) {
    lineCount += 1;
    if (!line.isComplete) tornLine = line;
    const result = parseResultsLine(line.text);
    hasRepeatedRows ||= result !== undefined && states.has(result.id);
    if (result !== undefined) states.set(result.id, toResultState(result));
    else if (line.isComplete || !mayBeResultsLine(line.text)) refuseLine(name, lineCount);
  }

  if (tornLine !== undefined) {
    // Keep a line that lacks only its newline, else cut it off: the journal has its row.
    if (parseResultsLine(tornLine.text) === undefined) {
      await truncateResults(filePath, handle, tornLine.start);
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

/** The place of a line in the file. */
interface LinePlace {
  /** The offset in bytes from the beginning of the file. */
  readonly start: number;
  /** The offset after its newline. */
  readonly end: number;
  /** True if it ends in a newline. */
  readonly isComplete: boolean;
}

interface PlacedLine extends LinePlace {
  readonly text: string;
}

async function* readPlacedLines(handle: FileHandle): AsyncGenerator<PlacedLine> {
  const { size } = await handle.stat();
  const pieces = handle.createReadStream({ encoding: 'utf8', start: 0, autoClose: false });
  let start = 0;
  for await (const { text } of splitIntoLines(pieces as AsyncIterable<string>)) {
    const end = start + Buffer.byteLength(text) + 1;
    yield { text, start, end, isComplete: end <= size };
    start = end;
  }
}

type LastLine = LinePlace & { readonly row: number };

/** Finds the last line of each row, by row id. */
async function findLastLines(handle: FileHandle): Promise<Map<string, LastLine>> {
  const lastLines = new Map<string, LastLine>();
  for await (const { text, ...place } of readPlacedLines(handle)) {
    const line = parseResultsLine(text);
    if (line !== undefined) lastLines.set(line.id, { ...place, row: line.row });
  }
  return lastLines;
}
