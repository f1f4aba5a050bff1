import type { ChalkInstance } from 'chalk';
import { wrapAnsi } from 'fast-wrap-ansi';
import type { DiffPart } from '../../checks/check-tasks.ts';
import { pluralize } from '../../core/pluralize.ts';
import type { Io } from '../../terminal/io.ts';
import { escapeControls } from '../../terminal/sanitise.ts';
import { layOutTable } from '../../terminal/table.ts';
import {
  type Grid,
  type GridCell,
  type GridColumn,
  type GridPart,
  type GridState,
  type GridTotal,
  isFaultyState,
} from './grid.ts';

const MAX_NAME_WIDTH = 24;
const STATE_WIDTH = 7;

/** The width between two columns. */
const GAP_WIDTH = 2;

/** Columns that would be narrower are stacked. */
const MIN_CELL_WIDTH = 24;

/** Maximum number of lines of a cell: of equal cells, only the beginning. */
const MAX_CELL_LINES = { same: 3, other: 40 };

/** The line between rows. */
const SEPARATORS = { mid: '─', 'mid-mid': '──' };

/** Number of characters shown on either side of a difference. */
const CONTEXT_LENGTH = 200;

/**
 * Formats a grid for a terminal: every cell of each row, with differences marked. Long texts are
 * cut unless `isWhole`.
 */
export async function renderGridTable(
  { stdout, paint }: Pick<Io, 'stdout' | 'paint'>,
  grid: Grid,
  { isWhole }: { readonly isWhole: boolean },
): Promise<string> {
  const { nameWidth, cellWidth, isWide } = computeGridWidths(grid, stdout.columns);
  const titles = grid.columns.map(column =>
    paint.bold(wrapText(escapeControls(column.name), cellWidth)),
  );
  const arrangeCells = (cells: readonly string[]): readonly string[] =>
    isWide ? cells : [cells.map((cell, index) => `${titles[index]}\n${cell}`).join('\n')];

  const formatFittedCell = (cell: GridCell | undefined, state: GridState): string => {
    const contextLength = isWhole ? Number.POSITIVE_INFINITY : CONTEXT_LENGTH;
    const text = wrapText(formatGridCell(cell, paint, contextLength), cellWidth);
    return isWhole ? text : cutLines(text, state, paint);
  };

  const rows = grid.rows.map(row => [
    wrapText(escapeControls(row.name), nameWidth),
    getStatePaint(row.state, paint)(row.state),
    ...arrangeCells(row.cells.map(cell => formatFittedCell(cell, row.state))),
  ]);

  const totals = grid.columns.map(column =>
    wrapText(paint.dim(escapeControls(formatColumnTotals(column))), cellWidth),
  );
  const head = [paint.bold('Row'), paint.bold('Result'), ...(isWide ? titles : [''])];
  const hasTotals = grid.columns.some(column => column.totals.length > 0);
  const totalRows = hasTotals ? [['all', '', ...arrangeCells(totals)]] : [];

  return layOutTable([head, ...rows, ...totalRows], {
    chars: SEPARATORS,
    colWidths: [nameWidth, STATE_WIDTH, ...head.slice(2).map(() => cellWidth)],
  });
}

/** The widths of a grid's columns. */
interface GridWidths {
  readonly nameWidth: number;
  readonly cellWidth: number;
  /** True if the cells of a row fit side by side; otherwise they are stacked. */
  readonly isWide: boolean;
}

function computeGridWidths({ rows, columns }: Grid, terminalWidth: number): GridWidths {
  const longestName = Math.max(3, ...rows.map(row => row.name.length));
  const nameWidth = Math.min(MAX_NAME_WIDTH, longestName);
  const remainingWidth = terminalWidth - nameWidth - STATE_WIDTH - 2 * GAP_WIDTH;
  const share = Math.floor((remainingWidth + GAP_WIDTH) / columns.length) - GAP_WIDTH;
  const isWide = share >= MIN_CELL_WIDTH;
  return {
    nameWidth,
    cellWidth: Math.max(MIN_CELL_WIDTH, isWide ? share : remainingWidth),
    isWide,
  };
}

/** Returns the totals of a column, each bare number with its unit. */
function formatColumnTotals({ totals }: GridColumn): string {
  return totals
    .map(total => (/^\d+$/u.test(total.value) ? formatCount(total) : total.value))
    .filter(text => text !== '–')
    .join(', ');
}

/** Returns a count with its unit, such as `1 token`, `2 tokens` or `1 passed`. */
function formatCount({ name, value }: GridTotal): string {
  return name.endsWith('s') ? pluralize(value, name.slice(0, -1)) : `${value} ${name}`;
}

function wrapText(text: string, width: number): string {
  return text
    .split('\n')
    .map(line => wrapLineHard(line, width))
    .join('\n');
}

/** Wraps a line and keeps its indentation; drops the blank at which it breaks. */
function wrapLineHard(line: string, width: number): string {
  const lines = wrapAnsi(line, width, { hard: true, trim: false });

  // oxlint-disable-next-line no-control-regex -- colours
  return lines.replace(/\n((?:\u001b\[[\d;]*m)*) /gu, '\n$1');
}

function formatGridCell(
  cell: GridCell | undefined,
  paint: ChalkInstance,
  contextLength: number,
): string {
  if (cell === undefined) return '';
  const parts = cell.parts.map(part => paintPart(part, paint, contextLength));
  return [paint.dim(escapeControls(cell.facts.join(', '))), ...parts].join('\n');
}

function paintPart(part: GridPart, paint: ChalkInstance, contextLength: number): string {
  switch (part.kind) {
    case 'media':
      return paint.dim('(a picture or video)');
    case 'difference':
      return paintDifference(part.parts, paint, contextLength).trimEnd();
    case 'error':
    case 'message':
      return paint.red(escapeControls(part.text));
    case 'text':
    default:
      return escapeControls(part.text).trimEnd();
  }
}

function cutLines(text: string, state: GridState, paint: ChalkInstance): string {
  const lines = text.split('\n');
  const maxLines =
    isFaultyState(state) || state === 'changed' ? MAX_CELL_LINES.other : MAX_CELL_LINES.same;
  const hiddenCount = lines.length - maxLines;
  return hiddenCount <= 0
    ? text
    : [...lines.slice(0, maxLines), paint.dim(`… ${hiddenCount} more lines`)].join('\n');
}

function getStatePaint(state: GridState, paint: ChalkInstance): ChalkInstance {
  if (isFaultyState(state)) return paint.red;
  return state === 'changed' ? paint.yellow : paint.green;
}

/**
 * Formats differences in colours or, without colours, with the marks of `git diff --word-diff`.
 *
 * @param contextLength number of equal characters shown on either side of a difference; default all
 */
export function paintDifference(
  parts: readonly DiffPart[],
  paint: ChalkInstance,
  contextLength = Number.POSITIVE_INFINITY,
): string {
  return parts
    .map(({ kind, text }) => {
      if (kind === 'same' && text.length > 3 * contextLength) {
        return `${escapeControls(text.slice(0, contextLength))} ${paint.dim('[…]')} ${escapeControls(text.slice(-contextLength))}`;
      }
      const safeText = escapeControls(text);
      if (kind === 'same' || kind === 'note') return safeText;
      if (paint.level === 0) return kind === 'removed' ? `[-${safeText}-]` : `{+${safeText}+}`;
      return kind === 'removed' ? paint.red.strikethrough(safeText) : paint.green(safeText);
    })
    .join('');
}
