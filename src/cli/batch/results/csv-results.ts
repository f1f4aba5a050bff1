import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { flushHandle, toContainedPath } from '../../../files/writing/write-below.ts';
import { replaceFile } from '../../../files/writing/write-file.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../core/errors.ts';
import type { SourceRow } from '../../inputs/rows/row.ts';
import { unwritableFileError } from '../../jobs/batch-journal.ts';
import type { JobState } from '../../jobs/read-journal.ts';
import {
  FIXED_COLUMNS,
  formatHeaderLine,
  formatLineParts,
  hasSameCells,
  isTableRow,
  joinColumns,
  readResultsTable,
  type TableColumns,
  type TableRow,
  toTableRow,
} from './csv-table.ts';
import { madeNoRun, type ResultState, toResultState } from './result-state.ts';
import {
  openResultsFile,
  type ResultsFile,
  throwIfReplaced,
  truncateResults,
} from './results-file.ts';
import type { ResultsLine } from './results-line.ts';

/** The place of a result whose content stays in the file. */
interface ResultPlace {
  readonly row: number;
  readonly outputs: number;
  /** The offset in bytes from the beginning of the file. */
  readonly start: number;
  /** The length of the row's own cells in bytes. */
  readonly ownBytes: number;
  readonly bytes: number;
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
export class CsvResults implements ResultsFile {
  readonly states = new Map<string, ResultState>();
  readonly existed: boolean;
  readonly journalPart = toTableRow;
  readonly #file: string;
  #handle: FileHandle;
  /** The results of rows, by row id: those in the journal and of this invocation. */
  readonly #results = new Map<string, TableRow | ResultPlace>();
  /**
   * Earlier results that the journal lacks, because they ended before its batch began, by row id.
   */
  readonly #matched = new Map<string, TableRow>();
  /** Such results for which no row was found yet. */
  readonly #unmatched: TableRow[];
  #size = 0;
  /** The columns in the file; undefined before its first result. */
  #columns: TableColumns | undefined;
  readonly #excel: boolean;
  /** True if appending gave more or other lines than the final table has. */
  #needsRewrite = false;
  #writing: Promise<void> = Promise.resolve();

  private constructor(
    file: string,
    handle: FileHandle,
    { rows, existed, excel }: { rows: TableRow[]; existed: boolean; excel: boolean },
  ) {
    this.#file = file;
    this.#handle = handle;
    this.#unmatched = rows;
    this.#excel = excel;
    this.existed = existed;
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
      excel,
    }: { readonly out: string; readonly resume: boolean; readonly excel: boolean },
    statesBefore: ReadonlyMap<string, JobState>,
  ): Promise<CsvResults> {
    const file = path.resolve(ctx.cwd, out);
    const handle = await openResultsFile(file, out, { resume });
    try {
      const journaledRows = [...statesBefore].flatMap(([id, { result }]) =>
        isTableRow(result) ? [[id, result] as const] : [],
      );

      // If the journal has every result, a crash can have damaged only the table's header.
      const tableRows = resume ? await readResultsTable(file, excel) : [];
      if (tableRows === undefined && statesBefore.size === 0) {
        throw usageError(
          `${out}: this is not a table of batch results`,
          'Name the file that the batch wrote.',
        );
      }

      const table = tableRows ?? [];
      const rows =
        statesBefore.size === 0 ? table : filterUnjournaled(table, new Map(journaledRows).values());
      const existed = rows.length + journaledRows.length > 0;
      const results = new CsvResults(file, handle, { rows, existed, excel });
      for (const [id, row] of journaledRows) results.#setResult(id, row, row);

      if (existed) {
        await results.#rewriteEarlier(out);
      } else {
        await truncateResults(file, handle, 0);
      }

      return results;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /**
   * Rewrites the table with the earlier results, because a crash or a spreadsheet may have left one
   * that can't be appended to.
   */
  async #rewriteEarlier(name: string): Promise<void> {
    const earlierRows = [...this.#unmatched, ...this.#results.values()];
    this.#columns = mergeColumns(earlierRows, { own: [], outputs: 0, excel: this.#excel });
    await this.#replace(earlierRows);
    this.#handle = await openResultsFile(this.#file, name, { resume: true });
    this.#size = (await this.#handle.stat()).size;
  }

  /**
   * Finds the earlier result of a row that the journal has no result for, by the row's own columns.
   */
  matchRow({ id, row, cells = {} }: SourceRow): void {
    if (this.states.has(id)) return;
    const at = this.#unmatched.findIndex(result => hasSameCells(result.cells, cells));
    const [result] = at === -1 ? [] : this.#unmatched.splice(at, 1);
    if (result === undefined) return;
    this.#matched.set(id, { ...result, row });
    this.states.set(id, toRowState({ ...result, row }));
  }

  drop(ids: ReadonlySet<string>): void {
    for (const id of ids) {
      this.states.delete(id);
      this.#matched.delete(id);
      this.#results.delete(id);
      this.#needsRewrite = true;
    }
  }

  findUnmatchedRun(): string | undefined {
    return this.#unmatched.find(row => !madeNoRun(toRowState(row)))?.values[0];
  }

  async write(line: ResultsLine, row: SourceRow): Promise<boolean> {
    const adding = this.#writing.then(() => this.#add(row.id, toTableRow(line, row)));
    this.#writing = adding.catch(() => {});
    await adding.catch((error: unknown) => {
      throw unwritableFileError(this.#file, error);
    });
    return true;
  }

  async #add(id: string, tableRow: TableRow): Promise<void> {
    const names = Object.keys(tableRow.cells);
    const outputs = tableRow.values.length - FIXED_COLUMNS.length;
    if (this.#columns === undefined) {
      this.#columns = { own: names, outputs, excel: this.#excel };
      await this.#append(formatHeaderLine(this.#columns));
    }

    const columns = this.#columns;
    const hasAll =
      tableRow.earlierRunIds === undefined && names.every(name => columns.own.includes(name));
    if (this.#results.has(id) || !hasAll || outputs > columns.outputs) this.#needsRewrite = true;
    const parts = formatLineParts(columns, tableRow);
    const start = this.#size;
    await this.#append(joinColumns(parts, columns.own.length > 0));
    const bytes = this.#size - start;
    const place = {
      row: tableRow.row,
      outputs,
      start,
      ownBytes: Buffer.byteLength(parts[0]),
      bytes,
    };
    this.#setResult(id, tableRow, hasAll ? place : tableRow);
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
    this.#matched.delete(id);
    this.#results.delete(id);
    this.#results.set(id, stored);
    this.states.set(id, toRowState(row));
  }

  async finish(isSorted: boolean): Promise<void> {
    await this.#writing;
    await throwIfReplaced(this.#file, this.#handle);
    if (!this.#needsRewrite && !isSorted && !this.existed) return flushHandle(this.#handle);
    const all = [...this.#matched.values(), ...this.#results.values()];
    if (isSorted) all.sort((one, other) => one.row - other.row);
    await this.#replace(all);
  }

  async #replace(all: readonly (TableRow | ResultPlace)[]): Promise<void> {
    await replaceFile(toContainedPath(this.#file), target => this.#writeAll(target, all)).catch(
      (error: unknown) => {
        throw unwritableFileError(this.#file, error);
      },
    );
  }

  async #writeAll(
    target: FileHandle,
    tableRows: readonly (TableRow | ResultPlace)[],
  ): Promise<void> {
    const columns = mergeColumns(
      tableRows,
      this.#columns ?? { own: [], outputs: 0, excel: this.#excel },
    );
    let piece = formatHeaderLine(columns);
    for (const row of tableRows) {
      const parts =
        'cells' in row ? formatLineParts(columns, row) : await this.#readParts(row, columns);
      piece += joinColumns(parts, columns.own.length > 0);
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
    { start, ownBytes, bytes, outputs }: ResultPlace,
    columns: TableColumns,
  ): Promise<readonly [string, string]> {
    const {
      own: ownBefore,
      outputs: outputsBefore,
      earlier,
    } = this.#columns ?? { own: [], outputs: 0 };

    const { buffer } = await this.#handle.read(Buffer.alloc(bytes), 0, bytes, start);
    const values = buffer.toString('utf8', ownBytes + (ownBefore.length > 0 ? 1 : 0), bytes - 1);
    const cells = ownBefore.length > 0 ? [buffer.toString('utf8', 0, ownBytes)] : [];
    const addedCells = Array<string>(columns.own.length - ownBefore.length).fill('');
    const missingCount = columns.outputs - Math.max(outputs, outputsBefore);
    const emptyCells = ','.repeat(missingCount + (columns.earlier && !earlier ? 1 : 0));

    return [[...cells, ...addedCells].join(','), `${values}${emptyCells}\n`];
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#handle.close();
  }
}

/**
 * Returns the complete rows whose runs are not in the journal: those written before its batch
 * began.
 */
function filterUnjournaled(table: readonly TableRow[], journaled: Iterable<TableRow>): TableRow[] {
  const known = new Set(
    [...journaled].flatMap(({ values, earlierRunIds = [] }) => [values[0], ...earlierRunIds]),
  );
  return table.filter(({ isWhole, values: [runId] }) => isWhole && !known.has(runId));
}

function toRowState({ row, values, earlierRunIds }: TableRow): ResultState {
  const [runId = '', runStatus = '', error = '', ...texts] = values;
  const outputs = texts.map(data => ({ type: 'text', data }));
  const line = { row, runStatus, runId: runId || null, error: error || null, outputs };
  return toResultState({ ...line, ...(earlierRunIds !== undefined && { earlierRunIds }) });
}

/** Returns all columns of the results, those of `columnsBefore` first. */
function mergeColumns(
  tableRows: readonly (TableRow | ResultPlace)[],
  columnsBefore: TableColumns,
): TableColumns {
  const ownColumns = new Set(columnsBefore.own);
  let { outputs } = columnsBefore;
  for (const row of tableRows) {
    const names = 'cells' in row ? Object.keys(row.cells) : [];
    for (const name of names) ownColumns.add(name);
    outputs = Math.max(
      outputs,
      'cells' in row ? row.values.length - FIXED_COLUMNS.length : row.outputs,
    );
  }

  const earlier = tableRows.some(row => 'cells' in row && row.earlierRunIds !== undefined);
  return { own: [...ownColumns], outputs, earlier, excel: columnsBefore.excel };
}
