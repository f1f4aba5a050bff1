/** A column of a table and how it gives way where the terminal is too narrow. */
export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Holds identifiers, which are shown by their beginnings where the terminal is too narrow. */
  readonly ids?: true;
  /** How narrow its cells may be cut; left out, they are never cut while a column can still be left out. */
  readonly min?: number;
  /** Columns with a number are left out, lowest first, once cutting is not enough. */
  readonly dropOrder?: number;
}

/** A column that is shown. */
export interface FittedColumn {
  readonly column: Column;
  /** Its place among all columns. */
  readonly index: number;
  /** In columns of the terminal. */
  readonly width: number;
}

/** How many columns of a terminal a text takes. */
export type Measure = (text: string) => number;

/** Blanks between two columns. */
export const GAP = 2;
const SHORTEST = 4;

/** Whether every column has room, once those that may be cut are. */
export function haveRoom(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  available: number,
  measure: Measure,
): boolean {
  const fitted = natural(columns, rows, measure);
  return total(fitted) - slackOf(fitted) <= available;
}

/** Gives each column that holds anything its width: the widest that may be cut shrink, then columns are left out. */
export function fitColumns(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  available: number,
  measure: Measure,
): readonly FittedColumn[] {
  let fitted: readonly FittedColumn[] = natural(columns, rows, measure);
  while (total(fitted) - available > slackOf(fitted)) {
    const leaver = leastWanted(fitted);
    if (leaver === undefined) return squeezed(fitted, available);
    fitted = fitted.filter(entry => entry !== leaver);
  }
  return shrunk(fitted, available);
}

/** The columns that hold anything, as wide as they are. */
function natural(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  measure: Measure,
): FittedColumn[] {
  return columns.flatMap((column, index) => {
    let width = 0;
    for (const row of rows) width = Math.max(width, measure(row[index] ?? ''));
    const isEmpty = width === 0 && rows.length > 0;
    return isEmpty ? [] : [{ column, index, width: Math.max(width, measure(column.title)) }];
  });
}

/** Cuts the widest columns that may be cut until all fit. */
function shrunk(fitted: readonly FittedColumn[], available: number): FittedColumn[] {
  const widths = fitted.map(entry => ({ ...entry }));
  for (let excess = total(widths) - available; excess > 0; excess -= 1) {
    const [widest] = widths.filter(entry => slack(entry) > 0).sort((a, b) => b.width - a.width);
    if (widest !== undefined) widest.width -= 1;
  }
  return widths;
}

/** The last resort of a very narrow terminal: the columns that are left share it. */
function squeezed(fitted: readonly FittedColumn[], available: number): FittedColumn[] {
  const share = Math.floor((available + GAP) / Math.max(fitted.length, 1)) - GAP;
  return fitted.map(entry => ({ ...entry, width: Math.min(entry.width, Math.max(SHORTEST, share)) }));
}

function leastWanted(fitted: readonly FittedColumn[]): FittedColumn | undefined {
  return fitted
    .filter(({ column }) => column.dropOrder !== undefined)
    .sort((a, b) => (a.column.dropOrder ?? 0) - (b.column.dropOrder ?? 0))[0];
}

function slackOf(fitted: readonly FittedColumn[]): number {
  return fitted.reduce((sum, entry) => sum + slack(entry), 0);
}

function slack({ column, width }: FittedColumn): number {
  return column.min === undefined ? 0 : Math.max(0, width - column.min);
}

function total(fitted: readonly FittedColumn[]): number {
  return fitted.reduce((sum, { width }) => sum + width, 0) + GAP * (fitted.length - 1);
}
