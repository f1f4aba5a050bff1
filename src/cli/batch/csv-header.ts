import { usageError } from '../errors.ts';
import { ID_COLUMN, imageColumnOrder } from './row.ts';

/** What the columns of a CSV file hold, each by its place from 0. */
export interface CsvHeader {
  readonly columns: number;
  readonly id: number | undefined;
  readonly texts: readonly (readonly [key: string, column: number])[];
  /** In the order of the row's images. */
  readonly images: readonly number[];
  /** Columns without a name, as spreadsheets leave them; they must stay empty. */
  readonly unnamed: readonly number[];
}

/** @throws {CliError} where two columns share a name */
export function readCsvHeader(fields: readonly string[]): CsvHeader {
  const names = fields.map(field => field.trim());
  refuseTwins(names);
  const columns = names.map((name, column) => ({ name, column, order: imageColumnOrder(name) }));
  const id = names.indexOf(ID_COLUMN);
  return {
    columns: names.length,
    id: id === -1 ? undefined : id,
    texts: columns
      .filter(({ name, order }) => name !== '' && name !== ID_COLUMN && order === undefined)
      .map(({ name, column }) => [name, column] as const),
    images: columns
      .flatMap(({ column, order }) => (order === undefined ? [] : [{ column, order }]))
      .sort((one, other) => one.order - other.order)
      .map(({ column }) => column),
    unnamed: columns.filter(({ name }) => name === '').map(({ column }) => column),
  };
}

function refuseTwins(names: readonly string[]): void {
  const twin = names.find((name, column) => name !== '' && names.indexOf(name) !== column);
  if (twin !== undefined) {
    throw usageError(
      `the header names the column ${JSON.stringify(twin)} twice`,
      'give each column a name of its own',
    );
  }
}
