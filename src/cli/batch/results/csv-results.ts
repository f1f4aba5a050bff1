import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { flushHandle, toContainedPath } from '../../../files/writing/write-below.ts';
import { replaceFile } from '../../../files/writing/write-file.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import type { SourceRow } from '../../inputs/rows/row.ts';
import { unwritableFileError } from '../../jobs/batch-journal.ts';
import type { JobState } from '../../jobs/read-journal.ts';
import type { BatchOptions } from '../batch-options.ts';
import {
  FIXED_COLUMNS,
  formatHeaderLine,
  formatLineParts,
  hasSameCells,
  isTableRow,
  joinLineParts,
  type LineParts,
  readResultsTable,
  type TableColumns,
  type TableRow,
  toTableRow,
} from './csv-table.ts';
import { madeNoRun, type ResultState, toResultState } from './result-state.ts';
import {
  openResultsFile,
  type ResultsSink,
  throwIfReplaced,
  truncateResults,
} from './results-file.ts';
import type { ResultsLine } from './results-line.ts';

/** The place of a result whose content stays in the file. */
interface ResultPlace {
  readonly row: number;
  readonly outputCount: number;
  /** The offset in bytes from the beginning of the file. */
  readonly start: number;
  /** The length of the row's own cells in bytes. */
  readonly ownByteCount: number;
  readonly byteCount: number;
}

interface CsvResultsOptions extends Pick<TableColumns, 'isForExcel'> {
  /** The earlier results that the journal lacks. */
  readonly rows: TableRow[];
  readonly hasEarlierResults: boolean;
}

/** Number of characters of a table to write at a time. */
const CSV_PIECE_LENGTH = 64 * 1024;

/**
 * Results as a table: the row's own columns, then runId, runStatus, error, output1 and so on. A
 * table that needs more columns can't be appended to, so it is rewritten at the end from the
 * results as they came. A result with own columns that the table still lacks stays in memory.
 * Earlier results come from the batch's journal; those that it lacks are matched row by row through
 * the rows' own columns.
 */
export class CsvResults implements ResultsSink {
  readonly states = new Map<string, ResultState>();
  readonly hasEarlierResults: boolean;
  readonly toJournalPart = toTableRow;
  readonly #filePath: string;
  #handle: FileHandle;
  /** The results of rows, by row id: those in the journal and of this invocation. */
  readonly #results = new Map<string, TableRow | ResultPlace>();
  /**
   * Earlier results that the journal lacks, because they ended before its batch began, by row id.
   */
  readonly #matchedRows = new Map<string, TableRow>();
  /** Such results whose row has not been found yet. */
  readonly #unmatchedRows: TableRow[];
  #size = 0;
  /** The columns in the file; undefined before its first result. */
  #columns: TableColumns | undefined;
  readonly #isForExcel: boolean;
  /** True if the appended lines differ from those of the final table. */
  #needsRewrite = false;
  #pendingWrite: Promise<void> = Promise.resolve();

  private constructor(
    filePath: string,
    handle: FileHandle,
    { rows, hasEarlierResults, isForExcel }: CsvResultsOptions,
  ) {
    this.#filePath = filePath;
    this.#handle = handle;
    this.#unmatchedRows = rows;
    this.#isForExcel = isForExcel;
    this.hasEarlierResults = hasEarlierResults;
  }

  /**
   * Opens or creates the table.
   *
   * @throws {CliError} if the file exists without `--resume`, or is not a table of results
   */
  static async open(
    ctx: Context,
    {
      out,
      resume,
      excel: isForExcel,
    }: Pick<BatchOptions, 'resume' | 'excel'> & { readonly out: string },
    earlierStates: ReadonlyMap<string, JobState>,
  ): Promise<CsvResults> {
    const filePath = path.resolve(ctx.cwd, out);
    const handle = await openResultsFile(filePath, out, { resume });
    try {
      const journaledRows = [...earlierStates].flatMap(([id, { result }]) =>
        isTableRow(result) ? [[id, result] as const] : [],
      );

      // If the journal has every result, a crash can have damaged only the table's header.
      const tableRows = resume ? await readResultsTable(filePath, { isForExcel }) : [];
      if (tableRows === undefined && earlierStates.size === 0) {
        throw usageError(
          `${out}: this is not a table of batch results`,
          'Name the file that the batch wrote.',
        );
      }

      const table = tableRows ?? [];
      const rows =
        earlierStates.size === 0
          ? table
          : filterUnjournaled(table, new Map(journaledRows).values());
      const hasEarlierResults = rows.length + journaledRows.length > 0;
      const results = new CsvResults(filePath, handle, { rows, hasEarlierResults, isForExcel });
      for (const [id, row] of journaledRows) results.#setResult(id, row, row);

      if (hasEarlierResults) {
        await results.#rewriteEarlierResults(out);
      } else {
        await truncateResults(filePath, handle, 0);
      }

      return results;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /**
   * Finds the earlier result of a row that the journal has no result for, by the row's own columns.
   */
  matchRow({ id, row, cells = {} }: SourceRow): void {
    if (this.states.has(id)) return;
    const index = this.#unmatchedRows.findIndex(result => hasSameCells(result.cells, cells));
    const [result] = index === -1 ? [] : this.#unmatchedRows.splice(index, 1);
    if (result === undefined) return;
    this.#matchedRows.set(id, { ...result, row });
    this.states.set(id, toRowState({ ...result, row }));
  }

  drop(ids: ReadonlySet<string>): void {
    for (const id of ids) {
      this.states.delete(id);
      this.#matchedRows.delete(id);
      this.#results.delete(id);
      this.#needsRewrite = true;
    }
  }

  findUnmatchedRun(): string | undefined {
    return this.#unmatchedRows.find(row => !madeNoRun(toRowState(row)))?.values[0];
  }

  async write(line: ResultsLine, row: SourceRow): Promise<boolean> {
    const addition = this.#pendingWrite.then(() => this.#add(row.id, toTableRow(line, row)));
    this.#pendingWrite = addition.catch(() => {});
    await addition.catch((error: unknown) => {
      throw unwritableFileError(this.#filePath, error);
    });
    return true;
  }

  async finish(isSorted: boolean): Promise<void> {
    await this.#pendingWrite;
    await throwIfReplaced(this.#filePath, this.#handle);
    if (!this.#needsRewrite && !isSorted && !this.hasEarlierResults) {
      return flushHandle(this.#handle);
    }
    const results = [...this.#matchedRows.values(), ...this.#results.values()];
    if (isSorted) results.sort((a, b) => a.row - b.row);
    await this.#replaceTable(results);
  }

  async close(): Promise<void> {
    await this.#pendingWrite;
    await this.#handle.close();
  }

  /**
   * Rewrites the table with the earlier results, because a crash or a spreadsheet may have left one
   * that can't be appended to.
   */
  async #rewriteEarlierResults(name: string): Promise<void> {
    const earlierRows = [...this.#unmatchedRows, ...this.#results.values()];
    this.#columns = mergeColumns(earlierRows, {
      ownNames: [],
      outputCount: 0,
      isForExcel: this.#isForExcel,
    });
    await this.#replaceTable(earlierRows);
    this.#handle = await openResultsFile(this.#filePath, name, { resume: true });
    this.#size = (await this.#handle.stat()).size;
  }

  async #add(id: string, tableRow: TableRow): Promise<void> {
    const names = Object.keys(tableRow.cells);
    const outputCount = tableRow.values.length - FIXED_COLUMNS.length;
    if (this.#columns === undefined) {
      this.#columns = { ownNames: names, outputCount, isForExcel: this.#isForExcel };
      await this.#append(formatHeaderLine(this.#columns));
    }

    const columns = this.#columns;
    const fitsColumns =
      tableRow.earlierRunIds === undefined && names.every(name => columns.ownNames.includes(name));
    if (this.#results.has(id) || !fitsColumns || outputCount > columns.outputCount) {
      this.#needsRewrite = true;
    }
    const parts = formatLineParts(columns, tableRow);
    const start = this.#size;
    await this.#append(joinLineParts(parts));
    const place = {
      row: tableRow.row,
      outputCount,
      start,
      ownByteCount: Buffer.byteLength(parts.ownCells ?? ''),
      byteCount: this.#size - start,
    };
    this.#setResult(id, tableRow, fitsColumns ? place : tableRow);
  }

  async #append(text: string): Promise<void> {
    await this.#handle.appendFile(text);
    this.#size += Buffer.byteLength(text);
  }

  /**
   * Sets the result of a row, as the latest one.
   *
   * @param stored the result, or its place in the file
   */
  #setResult(id: string, row: TableRow, stored: TableRow | ResultPlace): void {
    this.#matchedRows.delete(id);
    this.#results.delete(id);
    this.#results.set(id, stored);
    this.states.set(id, toRowState(row));
  }

  async #replaceTable(results: readonly (TableRow | ResultPlace)[]): Promise<void> {
    const writeTo = (target: FileHandle): Promise<void> => this.#writeAll(target, results);
    await replaceFile(toContainedPath(this.#filePath), writeTo).catch((error: unknown) => {
      throw unwritableFileError(this.#filePath, error);
    });
  }

  async #writeAll(target: FileHandle, results: readonly (TableRow | ResultPlace)[]): Promise<void> {
    const columns = mergeColumns(
      results,
      this.#columns ?? { ownNames: [], outputCount: 0, isForExcel: this.#isForExcel },
    );
    let piece = formatHeaderLine(columns);
    for (const result of results) {
      const parts =
        'cells' in result
          ? formatLineParts(columns, result)
          : await this.#readParts(result, columns);
      piece += joinLineParts(parts);
      if (piece.length < CSV_PIECE_LENGTH) continue;
      await target.appendFile(piece);
      piece = '';
    }

    await target.appendFile(piece);

    // Windows does not replace an open file.
    await this.#handle.close();
  }

  /** Returns the written cells of a result, with empty cells for columns added since. */
  async #readParts(
    { start, ownByteCount, byteCount, outputCount }: ResultPlace,
    columns: TableColumns,
  ): Promise<LineParts> {
    const columnsBefore = this.#columns ?? { ownNames: [], outputCount: 0, hasEarlierRuns: false };
    const hadOwnCells = columnsBefore.ownNames.length > 0;

    const { buffer } = await this.#handle.read(Buffer.alloc(byteCount), 0, byteCount, start);
    // A comma follows the row's own cells, and the newline ends the line.
    const writtenValues = buffer.toString(
      'utf8',
      hadOwnCells ? ownByteCount + 1 : 0,
      byteCount - 1,
    );
    const writtenCells = hadOwnCells ? [buffer.toString('utf8', 0, ownByteCount)] : [];

    const addedCells = Array<string>(columns.ownNames.length - columnsBefore.ownNames.length).fill(
      '',
    );
    const ownCells = [...writtenCells, ...addedCells];
    const addedOutputCount = columns.outputCount - Math.max(outputCount, columnsBefore.outputCount);
    const addsEarlierRuns = columns.hasEarlierRuns && !columnsBefore.hasEarlierRuns;
    const addedValues = ','.repeat(addedOutputCount + (addsEarlierRuns ? 1 : 0));

    return {
      ownCells: ownCells.length === 0 ? undefined : ownCells.join(','),
      values: `${writtenValues}${addedValues}\n`,
    };
  }
}

/**
 * Returns the complete rows whose runs are not in the journal: those written before its batch
 * began.
 */
function filterUnjournaled(
  table: readonly TableRow[],
  journaledRows: Iterable<TableRow>,
): TableRow[] {
  const journaledRunIds = new Set(
    [...journaledRows].flatMap(({ values, earlierRunIds = [] }) => [values[0], ...earlierRunIds]),
  );
  return table.filter(
    ({ isComplete, values: [runId] }) => isComplete && !journaledRunIds.has(runId),
  );
}

function toRowState({ row, values, earlierRunIds }: TableRow): ResultState {
  const [runId = '', runStatus = '', error = '', ...texts] = values;
  const outputs = texts.map(data => ({ type: 'text', data }));
  const line = { row, runStatus, runId: runId || null, error: error || null, outputs };
  return toResultState({ ...line, ...(earlierRunIds !== undefined && { earlierRunIds }) });
}

/** Returns all columns of the results, those of `columnsBefore` first. */
function mergeColumns(
  results: readonly (TableRow | ResultPlace)[],
  columnsBefore: TableColumns,
): TableColumns {
  const ownNames = new Set(columnsBefore.ownNames);
  let { outputCount } = columnsBefore;
  for (const result of results) {
    if ('cells' in result) {
      for (const name of Object.keys(result.cells)) ownNames.add(name);
      outputCount = Math.max(outputCount, result.values.length - FIXED_COLUMNS.length);
    } else {
      outputCount = Math.max(outputCount, result.outputCount);
    }
  }

  const hasEarlierRuns =
    columnsBefore.hasEarlierRuns === true ||
    results.some(row => 'cells' in row && row.earlierRunIds !== undefined);
  return { ...columnsBefore, ownNames: [...ownNames], outputCount, hasEarlierRuns };
}
