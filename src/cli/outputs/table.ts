import type { Io } from '../io.ts';
import { oneLine } from './sanitise.ts';

/** A column of a table and how it gives way where the terminal is too narrow. */
export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** How narrow its cells may be cut; left out, they are never cut while a column can still be left out. */
  readonly min?: number;
  /** Columns with a number are left out, lowest first, once cutting is not enough. */
  readonly dropOrder?: number;
}

/** A cell: its text, made harmless here, and its colour. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string };

type Width = (text: string) => number;
interface Fitted {
  readonly column: Column;
  readonly index: number;
  width: number;
}

const GAP = 2;
const SHORTEST = 4;
// The table measures texts by older rules than terminals do; of this character it can't be mistaken.
const STAND_IN = '\ue000';
const STAND_INS = new RegExp(`${STAND_IN}+`, 'gu');
const NO_BORDERS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: ' '.repeat(GAP),
};

/** A table with a header, no wider than the terminal. */
export async function terminalTable(
  io: Pick<Io, 'stdout' | 'paint'>,
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
): Promise<string> {
  const [{ default: Table }, { default: width }] = await Promise.all([
    import('cli-table3'),
    import('fast-string-width'),
  ]);
  const fitted = fit(columns, rows, io.stdout.columns, width);
  const table = new Table({
    chars: NO_BORDERS,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: fitted.map(({ column }) => column.align ?? 'left'),
  });
  const titles = fitted.map(({ column }) => ({ text: column.title, paint: io.paint.bold }));
  const cells = rows.map(row => fitted.map(({ index }) => row[index] ?? ''));
  const texts: string[] = [];
  for (const row of [titles, ...cells]) {
    table.push(
      row.map((cell, at) => {
        const text = cut(oneLine(textOf(cell)), fitted[at]?.width ?? 0, width);
        if (width(text) > 0) texts.push(colour(cell, text));
        return STAND_IN.repeat(width(text));
      }),
    );
  }
  const lines = table.toString().replace(STAND_INS, () => texts.shift() ?? '');
  return `${lines.replace(/ +$/gmu, '')}\n`;
}

/** Tab-separated lines without a header; a tab or line break inside a cell becomes a space. */
export function plainRows(rows: readonly (readonly Cell[])[]): string {
  return rows.map(plainRow).join('');
}

/** One tab-separated line. */
export function plainRow(row: readonly Cell[]): string {
  return `${row.map(cell => colour(cell, oneLine(textOf(cell)))).join('\t')}\n`;
}

/** Gives each column that holds anything its width: the widest that may be cut shrink, then columns are left out. */
function fit(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  available: number,
  width: Width,
): Fitted[] {
  let fitted = columns
    .map((column, index) => fittedTo(column, index, rows, width))
    .filter(({ empty }) => !empty || rows.length === 0);
  while (!shrinkTo(fitted, available)) {
    const leaver = leastWanted(fitted);
    if (leaver === undefined) return squeeze(fitted, available);
    fitted = fitted.filter(entry => entry !== leaver);
  }
  return fitted;
}

function fittedTo(
  column: Column,
  index: number,
  rows: readonly (readonly Cell[])[],
  width: Width,
): Fitted & { readonly empty: boolean } {
  let widest = 0;
  for (const row of rows) widest = Math.max(widest, width(oneLine(textOf(row[index] ?? ''))));
  return { column, index, width: Math.max(width(column.title), widest), empty: widest === 0 };
}

/** Cuts the widest cuttable columns until all fit; false, and nothing cut, where that is not enough. */
function shrinkTo(fitted: readonly Fitted[], available: number): boolean {
  let excess = total(fitted) - available;
  const spare = fitted.reduce((sum, entry) => sum + slack(entry), 0);
  if (excess > spare) return false;
  for (; excess > 0; excess -= 1) {
    const widest = fitted.filter(entry => slack(entry) > 0).sort((a, b) => b.width - a.width)[0];
    if (widest === undefined) return false;
    widest.width -= 1;
  }
  return true;
}

/** The last resort of a very narrow terminal: the columns that are left share it. */
function squeeze(fitted: readonly Fitted[], available: number): Fitted[] {
  const most = Math.max(SHORTEST, Math.floor((available + GAP) / Math.max(fitted.length, 1)) - GAP);
  return fitted.map(entry => ({ ...entry, width: Math.min(entry.width, most) }));
}

function leastWanted(fitted: readonly Fitted[]): Fitted | undefined {
  return fitted
    .filter(entry => entry.column.dropOrder !== undefined)
    .sort((a, b) => (a.column.dropOrder ?? 0) - (b.column.dropOrder ?? 0))[0];
}

function slack(entry: Fitted): number {
  return entry.column.min === undefined ? 0 : Math.max(0, entry.width - entry.column.min);
}

function total(fitted: readonly Fitted[]): number {
  return fitted.reduce((sum, entry) => sum + entry.width, 0) + GAP * (fitted.length - 1);
}

/** The text cut to a width in columns, never through a character, with an ellipsis where something is missing. */
function cut(text: string, most: number, width: Width): string {
  if (width(text) <= most) return text;
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (width(kept + segment) > most - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

function textOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}

function colour(cell: Cell, text: string): string {
  return typeof cell === 'string' ? text : cell.paint(text);
}
