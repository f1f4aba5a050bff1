import { type FilePosition, faultAt } from '../../../../files/formats/file-fault.ts';
import type { JsonObject } from '../../../../files/formats/json.ts';
import { getErrorMessage } from '../../../../utils/error-utils.ts';
import type { Assertion } from '../assertions/assertion.ts';
import { readAssertionCell } from '../assertions/read-assertion-cell.ts';
import type { ConversionContext } from '../conversion-context.ts';
import type { SourceText } from '../files/source-files.ts';
import type { ConfiguredTest } from './configured-test.ts';
import { readVariableText, toVariableValue } from './read-variables.ts';

/** A row of a table, with the line at which it ends. */
interface TestTableRow {
  readonly record: Readonly<Record<string, string>>;
  readonly info: { readonly lines: number };
}

/**
 * Reads the rows of a table: columns are variables, or expectations and settings if they begin with
 * `__`. Quotes within a cell are allowed only if the table can't be read otherwise, as in
 * promptfoo.
 *
 * @throws {FileFault} if the table can't be read
 */
export async function readTestTable(
  { text, file }: SourceText,
  conversion: ConversionContext,
): Promise<ConfiguredTest[]> {
  const top = { file, line: 1, column: 1 };
  const rows = await parseTable(text).catch((error: unknown) => {
    throw faultAt(top, `the table can't be read: ${getErrorMessage(error)}`);
  });
  return rows.map(({ record, info }) => {
    const cells = Object.entries(record).map(([column, cell]): TableCell => [column.trim(), cell]);
    return readRowTest(cells, { file, line: info.lines, column: 1 }, conversion);
  });
}

/** A cell with the name of its column. */
type TableCell = readonly [column: string, cell: string];

async function parseTable(text: string): Promise<TestTableRow[]> {
  const { parse } = await import('csv-parse/sync');
  const options = { bom: true, columns: true, info: true } as const;
  try {
    return parse(text, options) as never;
  } catch {
    return parse(text, { ...options, relax_quotes: true }) as never;
  }
}

/** Columns without an equivalent, which change a test unless their cell is empty. */
const UNSUPPORTED_COLUMNS = ['__prefix', '__suffix', '__providerOutput', '__threshold'];

/** The beginning of the names of columns with expectations. */
const EXPECTED_PREFIX = '__expected';

/** The beginning of the names of columns with metadata, before its key. */
const METADATA_PREFIX = '__metadata:';

/** Matches the column with the threshold of an expectation, which counts from 1. */
const THRESHOLD_COLUMN = /^__config:__expected(?<number>\d*):threshold$/u;

/** Returns true for a column that is not a variable. */
function isReservedColumn(column: string): boolean {
  return (
    UNSUPPORTED_COLUMNS.includes(column) ||
    ['__description', '__metric', '__metadata'].includes(column) ||
    [EXPECTED_PREFIX, METADATA_PREFIX, '__config:'].some(prefix => column.startsWith(prefix))
  );
}

function readRowTest(
  cells: readonly TableCell[],
  place: FilePosition,
  conversion: ConversionContext,
): ConfiguredTest {
  const omissionsBefore = conversion.omissionCount;

  for (const [column, cell] of cells) {
    const isSet = column === '__threshold' ? parseNumberCell(cell) !== undefined : cell !== '';
    if (UNSUPPORTED_COLUMNS.includes(column) && isSet) {
      conversion.reportOmission(place, `the column \`${column}\` has no equivalent`);
    }
  }

  const isLeftOut = conversion.omissionCount > omissionsBefore;
  const variableCells = cells.filter(([column]) => !isReservedColumn(column));
  const description = cells.findLast(([column]) => column === '__description')?.[1].trim() ?? '';

  return {
    name: description === '' ? undefined : description,
    place,
    vars: new Map(
      variableCells.map(([column, cell]) => [
        column,
        [toVariableValue(readVariableText(cell, place, conversion), place)],
      ]),
    ),
    asserts: readRowAssertions(cells, place),
    options: {},
    metadata: readRowMetadata(cells),
    isLeftOut,
  };
}

/**
 * Returns the expectations of a row with their thresholds.
 *
 * @throws {FileFault} for a threshold that is not a number
 */
function readRowAssertions(cells: readonly TableCell[], place: FilePosition): Assertion[] {
  const expectedCells = cells.filter(
    ([column, cell]) => column.startsWith(EXPECTED_PREFIX) && cell.trim() !== '',
  );
  const thresholds = new Map(
    cells.flatMap(([column, cell]) => {
      const { number } = THRESHOLD_COLUMN.exec(column)?.groups ?? {};
      if (number === undefined) return [];
      const threshold = parseNumberCell(cell);
      if (threshold === undefined) {
        throw faultAt(place, `\`${cell}\` in the column \`${column}\` is not a number`);
      }
      return [[number === '' ? 0 : Number(number) - 1, threshold] as const];
    }),
  );

  return expectedCells.map(([, cell], index) => {
    const assertion = readAssertionCell(cell, place);
    const threshold = thresholds.get(index);
    return threshold === undefined ? assertion : { ...assertion, threshold };
  });
}

function readRowMetadata(cells: readonly TableCell[]): JsonObject {
  const entries = cells.flatMap(([column, cell]) => {
    if (!column.startsWith(METADATA_PREFIX) || cell.trim() === '') return [];
    const name = column.slice(METADATA_PREFIX.length);
    return name.endsWith('[]') ? [[name.slice(0, -2), splitCell(cell)]] : [[name, cell]];
  });
  return Object.fromEntries(entries) as JsonObject;
}

/** Returns the items of a cell; commas after a backslash belong to an item. */
function splitCell(cell: string): string[] {
  return cell.split(/(?<!\\),/u).map(item => item.trim().replaceAll('\\,', ','));
}

/** Returns the number in a cell; undefined if the cell is anything else. */
function parseNumberCell(cell: string): number | undefined {
  const text = cell.trim();
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/iu.test(text) ? Number(text) : undefined;
}
