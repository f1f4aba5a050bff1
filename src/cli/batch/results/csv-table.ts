import { createReadStream } from 'node:fs';
import { isJsonObject } from '../../../utils/bounded-json.ts';
import { DELIMITERS, readCsvTable } from '../../inputs/rows/csv.ts';
import type { ResultsLine } from './results-line.ts';

/** The columns of every table of results, after the rows' own. */
export const FIXED_COLUMNS = ['runId', 'runStatus', 'error'];

export type TableCells = Readonly<Record<string, string>>;

/** The result of a row in the table and in the journal. */
export interface TableRow {
  readonly row: number;
  /** The row's own columns. */
  readonly cells: TableCells;
  /** runId, runStatus, error, and each output. */
  readonly values: readonly string[];
  /** Earlier runs of a row that was run again. */
  readonly earlierRunIds?: readonly string[] | undefined;
  /** False if the end of its line is missing in the table. */
  readonly isComplete?: boolean;
}

/** Matches a number, such as `-12`, `+.5` or `1.5e-3`. */
const SIGNED_NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/iu;

/**
 * Matches the beginning of a formula. See
 * https://owasp.org/www-community/attacks/CSV_Injection.
 */
const FORMULA_START = /^[=+\-@\t\r]/u;

/** The last column, present if a row was run again. */
const EARLIER_COLUMN = 'earlierRunIds';

export function toTableRow(
  { runId, runStatus, error, outputs, earlierRunIds }: ResultsLine,
  { row, cells = {} }: { readonly row: number; readonly cells?: TableCells },
): TableRow {
  const values = [runId ?? '', runStatus, error ?? '', ...outputs.map(({ data }) => data)];
  return { row, cells, values, earlierRunIds };
}

export function isTableRow(value: unknown): value is TableRow {
  return isJsonObject(value) && isJsonObject(value['cells']) && Array.isArray(value['values']);
}

/**
 * Reads the results in a table that a batch has written. Returns undefined if it is another table,
 * or its header is damaged.
 */
export async function readResultsTable(
  file: string,
  { isForExcel }: Pick<TableColumns, 'isForExcel'>,
): Promise<TableRow[] | undefined> {
  // A spreadsheet that has saved the table may have changed its separator.
  for (const delimiter of DELIMITERS) {
    const text = createReadStream(file, { encoding: 'utf8' }) as AsyncIterable<string>;
    const table = await readCsvTable(text, delimiter);
    const rows = readTableRows(isForExcel ? table.map(withoutApostrophes) : table);
    if (rows !== undefined) return rows;
  }
  return undefined;
}

/** Converts the records of a table to results. Returns undefined if it is another table. */
function readTableRows([header = [], ...records]: readonly (readonly string[])[]):
  | TableRow[]
  | undefined {
  const names = header.map(normalizeLineEnds);
  const firstFixedColumn = header.findIndex((_, column) =>
    FIXED_COLUMNS.every((name, offset) => header[column + offset] === name),
  );
  if (header.length > 0 && firstFixedColumn === -1) return undefined;

  const endColumn = header.at(-1) === EARLIER_COLUMN ? header.length - 1 : header.length;
  return records.map((record, row) => ({
    row: row + 1,
    cells: Object.fromEntries(
      names
        .slice(0, firstFixedColumn)
        .map((name, column) => [name, normalizeLineEnds(record[column] ?? '')]),
    ),
    values: withoutTrailingEmptyValues(record.slice(firstFixedColumn, endColumn)),
    earlierRunIds: record[endColumn]?.match(/\S+/gu) ?? undefined,
    // Only the last line can be torn; a spreadsheet may have left out empty cells at the end of
    // others.
    isComplete: row < records.length - 1 || record.length >= header.length,
  }));
}

/**
 * Changes line ends as the reader of rows does, so that a row's own cells are recognised. The cells
 * of outputs stay unchanged.
 */
function normalizeLineEnds(cell: string): string {
  return cell.replaceAll('\r\n', '\n');
}

function withoutApostrophes(record: readonly string[]): string[] {
  return record.map(value =>
    value.startsWith("'") && isFormula(value.slice(1)) ? value.slice(1) : value,
  );
}

/** Returns true if a spreadsheet would read a cell as a formula. */
function isFormula(value: string): boolean {
  return FORMULA_START.test(value) && !SIGNED_NUMBER.test(value);
}

function withoutTrailingEmptyValues(values: readonly string[]): string[] {
  const lastFilledIndex = values.findLastIndex(value => value !== '');
  return values.slice(0, Math.max(FIXED_COLUMNS.length, lastFilledIndex + 1));
}

export function hasSameCells(a: TableCells, b: TableCells): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every(name => (a[name] ?? '') === (b[name] ?? ''));
}

export interface TableColumns {
  readonly ownNames: readonly string[];
  /** Number of outputs of the widest result. */
  readonly outputCount: number;
  /** True if a row was run again. */
  readonly hasEarlierRuns?: boolean;
  /** True if a spreadsheet must be able to open the table safely. */
  readonly isForExcel: boolean;
}

export function formatHeaderLine(columns: TableColumns): string {
  const { ownNames, outputCount, hasEarlierRuns = false, isForExcel } = columns;
  const outputNames = Array.from({ length: outputCount }, (_, index) => `output${index + 1}`);
  const names = [...ownNames, ...FIXED_COLUMNS, ...outputNames];
  if (hasEarlierRuns) names.push(EARLIER_COLUMN);
  return `${isForExcel ? '\uFEFF' : ''}${formatCsvCells(names, columns)}\n`;
}

/** A result's line in the table, in two parts. */
export interface LineParts {
  /** The row's own cells; undefined if the table has no own columns. */
  readonly ownCells: string | undefined;
  /** The values, with the newline. */
  readonly values: string;
}

export function formatLineParts(columns: TableColumns, row: TableRow): LineParts {
  const { ownNames, outputCount, hasEarlierRuns = false } = columns;
  const { cells, earlierRunIds = [] } = row;
  const missingCount = Math.max(0, FIXED_COLUMNS.length + outputCount - row.values.length);
  const values = [...row.values, ...Array<string>(missingCount).fill('')];
  if (hasEarlierRuns) values.push(earlierRunIds.join(' '));

  const ownCells = ownNames.map(name => cells[name] ?? '');
  return {
    ownCells: ownNames.length === 0 ? undefined : formatCsvCells(ownCells, columns),
    values: `${formatCsvCells(values, columns)}\n`,
  };
}

export function joinLineParts({ ownCells, values }: LineParts): string {
  return ownCells === undefined ? values : `${ownCells},${values}`;
}

function formatCsvCells(
  texts: readonly string[],
  { isForExcel }: Pick<TableColumns, 'isForExcel'>,
): string {
  return texts
    .map(text => quoteCsvCell(isForExcel && isFormula(text) ? `'${text}` : text))
    .join(',');
}

function quoteCsvCell(text: string): string {
  return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
