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
  readonly isWhole?: boolean;
}

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
 * Reads the results in a table that a batch has written; undefined if it is another table, or its
 * header is damaged.
 */
export async function readResultsTable(
  file: string,
  excel: boolean,
): Promise<TableRow[] | undefined> {
  // A spreadsheet that has saved the table may have changed its separator.
  for (const delimiter of DELIMITERS) {
    const text = createReadStream(file, { encoding: 'utf8' }) as AsyncIterable<string>;
    const table = await readCsvTable(text, delimiter);
    const rows = readTableRows(excel ? table.map(withoutApostrophes) : table);
    if (rows !== undefined) return rows;
  }
  return undefined;
}

/** Returns the results in the records of a table; undefined if it is another table. */
function readTableRows([header = [], ...records]: readonly (readonly string[])[]):
  | TableRow[]
  | undefined {
  const names = header.map(withLf);
  const at = header.findIndex((_, column) =>
    FIXED_COLUMNS.every((name, next) => header[column + next] === name),
  );
  if (header.length > 0 && at === -1) return undefined;

  const end = header.at(-1) === EARLIER_COLUMN ? header.length - 1 : header.length;
  return records.map((record, row) => ({
    row: row + 1,
    cells: Object.fromEntries(
      names.slice(0, at).map((name, column) => [name, withLf(record[column] ?? '')]),
    ),
    values: withoutEmptyEnd(record.slice(at, end)),
    earlierRunIds: record[end]?.match(/\S+/gu) ?? undefined,
    // Only the last line can be torn; a spreadsheet may have left out empty cells at the end of
    // others.
    isWhole: row < records.length - 1 || record.length >= header.length,
  }));
}

/**
 * Changes line ends as the reader of rows does, so that a row's cells are recognised; cells of
 * outputs stay unchanged.
 */
function withLf(cell: string): string {
  return cell.replaceAll('\r\n', '\n');
}

function withoutApostrophes(record: readonly string[]): string[] {
  return record.map(value =>
    value.startsWith("'") && isFormula(value.slice(1)) ? value.slice(1) : value,
  );
}

/** Returns true if a spreadsheet would read a cell as a formula. */
function isFormula(value: string): boolean {
  return (
    /^[=+\-@\t\r]/u.test(value) && !/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/iu.test(value)
  );
}

function withoutEmptyEnd(values: readonly string[]): string[] {
  const last = values.findLastIndex(value => value !== '');
  return values.slice(0, Math.max(FIXED_COLUMNS.length, last + 1));
}

export function hasSameCells(one: TableCells, other: TableCells): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every(name => (one[name] ?? '') === (other[name] ?? ''));
}

export interface TableColumns {
  readonly own: readonly string[];
  /** Number of outputs of the widest result. */
  readonly outputs: number;
  /** True if a row was run again. */
  readonly earlier?: boolean;
  /** True if a spreadsheet must be able to open the table safely. */
  readonly excel: boolean;
}

export function formatHeaderLine({ own, outputs, earlier = false, excel }: TableColumns): string {
  const numbered = Array.from({ length: outputs }, (_, index) => `output${index + 1}`);
  const names = [...own, ...FIXED_COLUMNS, ...numbered, ...(earlier ? [EARLIER_COLUMN] : [])];
  return `${excel ? '\uFEFF' : ''}${names.map(name => quoteCsvCell(name, excel)).join(',')}\n`;
}

/**
 * Formats a result as a line in two parts: the row's own cells, and the values with the newline.
 */
export function formatLineParts(
  { own, outputs, earlier = false, excel }: TableColumns,
  { cells, values, earlierRunIds = [] }: TableRow,
): readonly [string, string] {
  const missing = Array<string>(Math.max(0, FIXED_COLUMNS.length + outputs - values.length)).fill(
    '',
  );
  return [
    own.map(name => quoteCsvCell(cells[name] ?? '', excel)).join(','),
    `${[...values, ...missing, ...(earlier ? [earlierRunIds.join(' ')] : [])].map(value => quoteCsvCell(value, excel)).join(',')}\n`,
  ];
}

export function joinColumns([own, values]: readonly [string, string], hasOwn: boolean): string {
  return hasOwn ? `${own},${values}` : values;
}

function quoteCsvCell(text: string, excel: boolean): string {
  const value = excel && isFormula(text) ? `'${text}` : text;
  return /[",\r\n]/u.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
