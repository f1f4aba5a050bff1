import type CliTable3 from 'cli-table3';
import { type Column, type FittedColumn, fitColumns, GAP, haveRoom, type Measure } from './fit-columns.ts';
import type { Io } from './io.ts';
import { oneLine } from './sanitise.ts';
import type { TerminalContext } from './terminal-context.ts';

export type { Column } from './fit-columns.ts';

/** A cell: its text, made harmless here, and its colour. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string };

// Laying out takes time that grows with the square of the rows.
const ROWS_AT_A_TIME = 100;
// The table measures texts by older rules than terminals do; of this character it can't be mistaken.
const STAND_IN = '\ue000';
const STAND_INS = new RegExp(`${STAND_IN}+`, 'gu');
const BARE = {
  style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  chars: {
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
  },
};

/** A table with a header, no wider than the terminal. */
export async function terminalTable(
  io: Pick<Io, 'stdout' | 'paint'>,
  columns: readonly Column[],
  full: readonly (readonly Cell[])[],
): Promise<string> {
  const [{ default: Table }, { default: measure }] = await Promise.all([
    import('cli-table3'),
    import('fast-string-width'),
  ]);
  const whole = full.map(row => row.map(harmless));
  const roomy = haveRoom(columns, whole, io.stdout.columns, measure);
  const rows = roomy ? full : withShortIds(columns, full);
  const texts = rows.map(row => row.map(harmless));
  const fitted = fitColumns(columns, texts, io.stdout.columns, measure);
  const titles = fitted.map(({ column }) => ({ text: column.title, paint: io.paint.bold }));
  const all = [titles, ...rows.map(row => fitted.map(({ index }) => row[index] ?? ''))];
  const parts: string[] = [];
  for (let from = 0; from < all.length; from += ROWS_AT_A_TIME) {
    const table = new Table({ ...BARE, ...layoutOf(fitted) });
    parts.push(layOut(table, all.slice(from, from + ROWS_AT_A_TIME), fitted, measure));
  }
  return `${parts.join('\n').replace(/(?<! ) +$/gmu, '')}\n`;
}

function withShortIds(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
): readonly (readonly Cell[])[] {
  const shortened = columns.map(({ ids }, at) =>
    ids === true ? shortIds(rows.map(row => harmless(row[at] ?? ''))) : undefined,
  );
  return rows.map((row, number) => row.map((cell, at) => shortened[at]?.[number] ?? cell));
}

/** Tab-separated lines without a header; a tab or line break inside a cell becomes a space. */
export function plainRows(rows: readonly (readonly Cell[])[]): string {
  return rows.map(plainRow).join('');
}

/** One tab-separated line. */
export function plainRow(row: readonly Cell[]): string {
  return `${row.map(cell => painted(cell, harmless(cell))).join('\t')}\n`;
}

function layoutOf(fitted: readonly FittedColumn[]): {
  colWidths: number[];
  colAligns: ('left' | 'right')[];
} {
  return {
    colWidths: fitted.map(entry => entry.width),
    colAligns: fitted.map(({ column }) => column.align ?? 'left'),
  };
}

/** Lets the table place stand-ins as wide as the cells, and puts the cells where they came to stand. */
function layOut(
  table: CliTable3.Table,
  rows: readonly (readonly Cell[])[],
  fitted: readonly FittedColumn[],
  measure: Measure,
): string {
  const texts: string[] = [];
  const standIn = (cell: Cell, at: number): string => {
    const text = cut(harmless(cell), fitted[at]?.width ?? 0, measure);
    if (measure(text) > 0) texts.push(painted(cell, text));
    return STAND_IN.repeat(measure(text));
  };
  for (const row of rows) table.push(row.map(standIn));
  let next = 0;
  return table.toString().replace(STAND_INS, () => texts[next++] ?? '');
}

/** The text cut to a width in columns, never through a character, with an ellipsis where something is missing. */
function cut(text: string, most: number, measure: Measure): string {
  if (measure(text) <= most) return text;
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (measure(kept + segment) > most - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

function harmless(cell: Cell): string {
  return oneLine(typeof cell === 'string' ? cell : cell.text);
}

function painted(cell: Cell, text: string): string {
  return typeof cell === 'string' ? text : cell.paint(text);
}

/** A run's status in the colour it has everywhere; one that is not known stays plain. */
export function runStatusCell({ io: { paint } }: Pick<TerminalContext, 'io'>, status: string): Cell {
  const paints = new Map<string, (text: string) => string>([
    ['succeeded', paint.green],
    ['failed', paint.red],
    ['running', paint.yellow],
    ['queued', paint.cyan],
  ]);
  const colour = paints.get(status);
  return colour === undefined ? status : { text: status, paint: colour };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/iu;
const SHORTEST = 8;

/** Identifiers as their beginnings, all of one length, long enough to tell them apart; other texts as they are. */
function shortIds(texts: readonly string[]): string[] {
  const ids = new Set(texts.filter(text => UUID.test(text)));
  let length = SHORTEST;
  while (new Set([...ids].map(id => id.slice(0, length))).size < ids.size) length += 1;
  return texts.map(text => (UUID.test(text) ? text.slice(0, length) : text));
}
