import type { TableConstructorOptions } from 'cli-table3';
import { isUuid } from '../../wire/index.ts';
import { fitOnLine } from './fit-text.ts';
import type { Io } from './io.ts';
import { toOneLine } from './sanitise.ts';

/** A column of a table and how it shrinks if the terminal is too narrow. */
export interface TableColumn {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /**
   * True if it holds identifiers, which are shortened to their beginnings before any words are cut.
   */
  readonly hasIds?: true;
  /** True if it holds paths, which are cut in the middle before any words are cut. */
  readonly hasPaths?: true;
  /**
   * Minimum width of a cut cell; default: cells are cut only when no more columns can be left out.
   */
  readonly minWidth?: number;
  /**
   * The order in which columns are left out if cutting is not enough, lowest first; default: never.
   */
  readonly dropOrder?: number;
}

/** The text of a cell, which is sanitised here, and its colour. */
export type Cell = string | { readonly text: string; readonly paint: Paint };

export type Paint = (text: string) => string;

/** Number of rows to lay out together: the time grows with its square. */
const ROWS_PER_LAYOUT = 100;
const COLUMN_GAP = '  ';

/** Minimum width of a column if nothing else can be cut. */
const MIN_COLUMN_WIDTH = 4;

/** Minimum length of a shortened identifier. */
const MIN_ID_LENGTH = 8;
const NO_PADDING = { head: [], border: [], 'padding-left': 0, 'padding-right': 0 };

/** Lays out a table with a header, no wider than the terminal. */
export async function renderTerminalTable(
  io: Pick<Io, 'stdout' | 'paint'>,
  columns: readonly TableColumn[],
  rows: readonly (readonly Cell[])[],
): Promise<string> {
  const { default: measure } = await import('fast-string-width');
  const { columns: availableWidth } = io.stdout;

  const wholeTexts = rows.map(row => row.map(formatCell));
  const wholeColumns = pickShownColumns(columns, wholeTexts, measure);
  const isWholeFitting = computeExcessWidth(wholeColumns, availableWidth) <= 0;
  const texts = isWholeFitting ? wholeTexts : withShortIds(columns, wholeTexts);
  const tableColumns = isWholeFitting
    ? wholeColumns
    : narrowColumns(pickShownColumns(columns, texts, measure), availableWidth);

  const cells = rows.map((row, rowIndex) =>
    tableColumns.map(({ column, index, width }) => {
      const text = texts[rowIndex]?.[index] ?? '';
      const fittedText = column.hasPaths ? cutInMiddle(text, width) : fitOnLine(text, width);
      return paintCell(row[index] ?? '', fittedText);
    }),
  );

  const head = tableColumns.map(({ column }) => io.paint.bold(column.title));
  return layOutTable([head, ...cells], {
    colAligns: tableColumns.map(({ column }) => column.align ?? 'left'),
  });
}

/**
 * Lays out cells of one or more lines with cli-table3 and its options, separated by blanks only.
 */
export async function layOutTable(
  rows: readonly (readonly string[])[],
  { chars, ...options }: TableConstructorOptions,
): Promise<string> {
  const { default: Table } = await import('cli-table3');
  const parts: string[] = [];
  for (let from = 0; from < rows.length; from += ROWS_PER_LAYOUT) {
    const table = new Table({
      ...options,
      style: NO_PADDING,
      chars: { ...getBlankChars(), middle: COLUMN_GAP, ...chars },
    });
    table.push(...rows.slice(from, from + ROWS_PER_LAYOUT).map(row => [...row]));
    parts.push(table.toString());
  }

  return `${parts.join('\n').replace(/(?<! ) +$/gmu, '')}\n`;
}

function getBlankChars(): TableConstructorOptions['chars'] {
  const sides = ['top', 'bottom', 'left', 'right', 'mid'];
  const corners = ['', '-mid', '-left', '-right'];
  return Object.fromEntries(sides.flatMap(side => corners.map(corner => [side + corner, ''])));
}

/** Returns tab-separated lines without a header; a tab or line break in a cell becomes a space. */
export function formatPlainRows(rows: readonly (readonly Cell[])[]): string {
  return rows.map(formatPlainRow).join('');
}

/** Returns one tab-separated line. */
export function formatPlainRow(row: readonly Cell[]): string {
  return `${row.map(cell => paintCell(cell, formatCell(cell))).join('\t')}\n`;
}

function formatCell(cell: Cell): string {
  return toOneLine(typeof cell === 'string' ? cell : cell.text);
}

function paintCell(cell: Cell, text: string): string {
  return typeof cell === 'string' || text === '' ? text : cell.paint(text);
}

interface ShownColumn {
  readonly column: TableColumn;
  /** The index among all columns. */
  readonly index: number;
  width: number;
}

/** Returns the columns that are not empty, each as wide as its content. */
function pickShownColumns(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  measure: (text: string) => number,
): ShownColumn[] {
  return columns.flatMap((column, index) => {
    const width = rows.reduce((widest, row) => Math.max(widest, measure(row[index] ?? '')), 0);
    const isEmpty = width === 0 && rows.length > 0;
    return isEmpty ? [] : [{ column, index, width: Math.max(width, measure(column.title)) }];
  });
}

/** Leaves columns out while cutting is not enough, then cuts paths, then the widest columns. */
function narrowColumns(columns: readonly ShownColumn[], availableWidth: number): ShownColumn[] {
  let remainingColumns = [...columns];
  while (!canFitByCutting(remainingColumns, availableWidth)) {
    const [leastImportant] = remainingColumns
      .filter(({ column }) => column.dropOrder !== undefined)
      .sort((a, b) => (a.column.dropOrder ?? 0) - (b.column.dropOrder ?? 0));
    if (leastImportant === undefined) {
      const isCuttable = ({ width }: ShownColumn): boolean => width > MIN_COLUMN_WIDTH;
      return cutColumns(remainingColumns, availableWidth, isCuttable, compareNumbersLast);
    }
    remainingColumns = remainingColumns.filter(entry => entry !== leastImportant);
  }

  const isCuttable = (entry: ShownColumn): boolean => computeColumnSlack(entry) > 0;
  return cutColumns(remainingColumns, availableWidth, isCuttable, comparePathsFirst);
}

function canFitByCutting(columns: readonly ShownColumn[], availableWidth: number): boolean {
  const slack = sumColumnWidths(columns.map(computeColumnSlack));
  return computeExcessWidth(columns, availableWidth) <= slack;
}

/** Cuts columns one by one, in this order, until they fit or none may be cut. */
function cutColumns(
  columns: ShownColumn[],
  availableWidth: number,
  isCuttable: (entry: ShownColumn) => boolean,
  order: (a: ShownColumn, b: ShownColumn) => number,
): ShownColumn[] {
  for (let excess = computeExcessWidth(columns, availableWidth); excess > 0; excess -= 1) {
    const [next] = columns.filter(isCuttable).sort(order);
    if (next !== undefined) next.width -= 1;
  }
  return columns;
}

function comparePathsFirst(a: ShownColumn, b: ShownColumn): number {
  return (
    Number(b.column.hasPaths ?? false) - Number(a.column.hasPaths ?? false) || b.width - a.width
  );
}

/** Orders numbers last: a number without its end is another number. */
function compareNumbersLast(a: ShownColumn, b: ShownColumn): number {
  return (
    Number(a.column.align === 'right') - Number(b.column.align === 'right') ||
    comparePathsFirst(a, b)
  );
}

function computeExcessWidth(columns: readonly ShownColumn[], availableWidth: number): number {
  const contentWidth = sumColumnWidths(columns.map(({ width }) => width));
  const gapWidth = COLUMN_GAP.length * (columns.length - 1);
  return contentWidth + gapWidth - availableWidth;
}

function computeColumnSlack({ column, width }: ShownColumn): number {
  return column.minWidth === undefined ? 0 : Math.max(0, width - column.minWidth);
}

function sumColumnWidths(widths: readonly number[]): number {
  return widths.reduce((total, width) => total + width, 0);
}

function cutInMiddle(text: string, maxWidth: number): string {
  if (text.length <= maxWidth) return text;
  const end = Math.ceil((maxWidth - 1) / 2);
  return `${text.slice(0, maxWidth - 1 - end)}…${text.slice(text.length - end)}`;
}

function withShortIds(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
): string[][] {
  const shortIdsByColumn = columns.map(({ hasIds }, columnIndex) =>
    hasIds === true ? shortenIds(rows.map(row => row[columnIndex] ?? '')) : undefined,
  );
  return rows.map((row, rowIndex) =>
    row.map((text, columnIndex) => shortIdsByColumn[columnIndex]?.[rowIndex] ?? text),
  );
}

/**
 * Shortens identifiers to beginnings of one length that are still unique; other texts stay
 * unchanged.
 */
function shortenIds(texts: readonly string[]): string[] {
  const ids = new Set(texts.filter(isUuid));
  let length = MIN_ID_LENGTH;
  while (new Set([...ids].map(id => id.slice(0, length))).size < ids.size) length += 1;
  return texts.map(text => (isUuid(text) ? text.slice(0, length) : text));
}
