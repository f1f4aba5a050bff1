import { pipeline, Readable } from 'node:stream';
import { type CsvError, type Options, parse } from 'csv-parse';
import { MAX_BODY_BYTES } from '../../../wire/limits.ts';
import { usageError } from '../../core/errors.ts';
import { pluralize } from '../../core/pluralize.ts';
import {
  type FaultyRow,
  findImageColumnOrder,
  ID_COLUMN,
  type RowPosition,
  type SourceRow,
  toFaultyRow,
  toReadableRow,
} from './row.ts';

interface CsvRecord {
  readonly record: readonly string[];
  /** The record's text without preceding blank lines, with one character for each line end. */
  readonly raw: string;
}

/** The place where a file stops being valid CSV. */
interface CsvFault {
  readonly error: CsvError | undefined;
  readonly raw: string;
  /** The number of records before it. */
  readonly precedingRecords: number;
}

/** Matches the first line `sep=;`, from which Excel takes the separator. */
const SEPARATOR_LINE = /^\s*sep=([^"\r\n])[ \t]*(?:[\r\n]|$)/iu;

/**
 * Yields the rows of a CSV file with a header, however long the file is.
 *
 * @param name the file's name, for messages
 * @param delimiter the separator of cells; default: that of Excel's line `sep=;`, else the most
 * frequent of comma, semicolon and tab in the header
 */
export async function* readCsv(
  text: AsyncIterable<string>,
  { name, delimiter }: { readonly name: string; readonly delimiter: string | undefined },
): AsyncGenerator<SourceRow> {
  const [separator, wholeText] =
    delimiter === undefined ? await detectDelimiter(text) : [delimiter, text];
  const { records, findFault } = parseRecords(wholeText, separator);

  let header: CsvHeader | undefined;
  let line = 1;
  let row = 0;
  let recordCount = 0;
  for await (const { record, raw } of records) {
    // Git and editors on Windows change line ends within cells, too.
    const cells = record.map(cell => cell.replaceAll('\r\n', '\n'));
    const position = { row: row + 1, line: line + countCsvLineEnds(getLeadingLineEnds(raw)) };
    line += countCsvLineEnds(raw);
    recordCount += 1;

    if (header === undefined) {
      header = isBlank(raw) || SEPARATOR_LINE.test(raw) ? undefined : readCsvHeader(cells, name);
    } else if (!isBlank(raw)) {
      row += 1;
      const sourceRow = readRecord(header, { record: cells, raw }, position);
      yield { ...sourceRow, cells: toNamedCells(header, cells) };
    }

    if (findFault()?.precedingRecords === recordCount) break;
  }

  const fault = findFault();
  if (fault !== undefined) {
    yield toUnfinishedRow(fault, {
      row: row + 1,
      line: line + countCsvLineEnds(getLeadingLineEnds(fault.raw)),
    });
  }
}

/** The separators that are detected in a header. */
export const DELIMITERS = [',', ';', '\t'] as const;

/** Returns the separator in the header, and the text including the part that was read. */
async function detectDelimiter(
  text: AsyncIterable<string>,
): Promise<[separator: string, text: AsyncIterable<string>]> {
  const pieces = text[Symbol.asyncIterator]();
  let readText = '';
  let piece = await pieces.next();
  while (piece.done !== true) {
    readText += piece.value;
    if (/[\r\n]/u.test(readText.trimStart()) || readText.length > MAX_BODY_BYTES) break;
    piece = await pieces.next();
  }

  const [, namedSeparator] = SEPARATOR_LINE.exec(readText) ?? [];
  if (namedSeparator !== undefined) return [namedSeparator, prependText(readText, pieces)];

  const [header = ''] = /\S[^\r\n]*/u.exec(readText) ?? [];
  const unquotedHeader = header.replaceAll(/"[^"]*"/gu, '');
  const countCells = (delimiter: string): number => unquotedHeader.split(delimiter).length;
  const bestDelimiter = DELIMITERS.reduce(
    (one, other) => (countCells(other) > countCells(one) ? other : one),
    ',',
  );

  return [bestDelimiter, prependText(readText, pieces)];
}

async function* prependText(
  beginning: string,
  rest: AsyncIterator<string>,
): AsyncGenerator<string> {
  yield beginning;
  for (let piece = await rest.next(); piece.done !== true; piece = await rest.next()) {
    yield piece.value;
  }
}

function parseRecords(
  text: AsyncIterable<string>,
  delimiter: string,
): {
  records: AsyncIterable<CsvRecord>;
  /** Returns the fault at which the file stops being valid; undefined while there is none. */
  findFault: () => CsvFault | undefined;
} {
  let firstFault: CsvFault | undefined;
  const parser = parse({
    bom: true,
    delimiter,
    max_record_size: MAX_BODY_BYTES,
    on_skip: (error: CsvError | undefined, raw: string | undefined) => {
      firstFault ??= { error, raw: raw ?? '', precedingRecords: parser.info.records };
    },
    raw: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    // Otherwise rows that were already parsed would be lost with the faulty one.
    skip_records_with_error: true,
  } as Options);

  // Faults of either stream reach the reader of the parser.
  pipeline(Readable.from(text), parser, () => {});
  return { records: parser as AsyncIterable<CsvRecord>, findFault: () => firstFault };
}

function toNamedCells({ names }: CsvHeader, record: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name, column) => (name === '' ? [] : [[name, record[column] ?? ''] as const])),
  );
}

/** Returns every record of a table, the header first. */
export async function readCsvTable(
  text: AsyncIterable<string>,
  delimiter: string,
): Promise<(readonly string[])[]> {
  const table: (readonly string[])[] = [];
  for await (const { record } of parseRecords(text, delimiter).records) table.push(record);
  return table;
}

function readRecord(
  header: CsvHeader,
  { record, raw }: CsvRecord,
  position: RowPosition,
): SourceRow {
  const tornColumn = record.findIndex(
    value => value.startsWith('"') && !raw.replaceAll('\r\n', '\n').includes(quoteCsv(value)),
  );
  if (tornColumn !== -1) {
    return toFaultyRow(position, `the quotes in column ${tornColumn + 1} don't enclose all of it`);
  }

  if (record.length !== header.columnCount) {
    return toFaultyRow(
      position,
      `${pluralize(record.length, 'column')}, but the header has ${header.columnCount}`,
    );
  }

  const getCell = (column: number): string => record[column] ?? '';
  const strayColumn = header.unnamedColumns.find(column => getCell(column) !== '');
  if (strayColumn !== undefined) {
    return toFaultyRow(position, `a value in column ${strayColumn + 1}, which has no name`);
  }

  const images = header.imageColumns
    .map(({ name, column }) => ({ name, image: getCell(column) }))
    .filter(({ image }) => image !== '');
  const id = header.idColumn === undefined ? '' : getCell(header.idColumn);
  const row = toReadableRow(position, id === '' ? undefined : id, {
    // An empty cell leaves the input out, so that the prompt's default applies.
    text: new Map(
      header.textColumns
        .map(([key, column]) => [key, getCell(column)] as const)
        .filter(isFilledCell),
    ),
    images: images.map(({ image }) => image),
  });
  return { ...row, imageColumns: images.map(({ name }) => name) };
}

function isFilledCell([, value]: readonly [string, string]): boolean {
  return value !== '';
}

function toUnfinishedRow({ error }: CsvFault, position: RowPosition): FaultyRow {
  const message =
    error?.code === 'CSV_QUOTE_NOT_CLOSED'
      ? 'its quotes are never closed, so that the rest of the file is lost'
      : 'it is longer than any request may be, and the rest of the file is lost';
  return toFaultyRow(position, message);
}

function quoteCsv(value: string): string {
  return `"${value.replaceAll('"', '""')}"`;
}

/** Returns true for a record that is empty or has only spaces. */
function isBlank(raw: string): boolean {
  return raw.trim() === '';
}

function getLeadingLineEnds(raw: string): string {
  return /^[\r\n]*/u.exec(raw)?.[0] ?? '';
}

function countCsvLineEnds(raw: string): number {
  return raw.match(/\r\n|\r|\n/gu)?.length ?? 0;
}

/** The columns of a CSV file by their index, from 0. */
export type CsvHeader = ReturnType<typeof readCsvHeader>;

/** @throws {CliError} if two columns have the same name */
function readCsvHeader(fields: readonly string[], file: string) {
  const names = fields.map(field => field.trim());
  const duplicateName = names.find((name, column) => name !== '' && names.indexOf(name) !== column);
  if (duplicateName !== undefined) {
    throw usageError(
      `${file}: the header names the column ${JSON.stringify(duplicateName)} twice`,
      'Give each column its own name.',
    );
  }

  const columns = names.map((name, column) => ({
    name,
    column,
    order: findImageColumnOrder(name),
  }));

  const idColumn = names.indexOf(ID_COLUMN);
  return {
    columnCount: names.length,
    names,
    idColumn: idColumn === -1 ? undefined : idColumn,
    textColumns: columns
      .filter(({ name, order }) => name !== '' && name !== ID_COLUMN && order === undefined)
      .map(({ name, column }) => [name, column] as const),
    /** The image columns in the order of the images. */
    imageColumns: columns
      .flatMap(({ name, column, order }) => (order === undefined ? [] : [{ name, column, order }]))
      .sort((one, other) => one.order - other.order),
    /** Columns without a name, which spreadsheets leave behind; their cells must be empty. */
    unnamedColumns: columns.filter(({ name }) => name === '').map(({ column }) => column),
  };
}
