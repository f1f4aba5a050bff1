import type { ChalkInstance } from 'chalk';
import { wrapAnsi } from 'fast-wrap-ansi';
import type { Io } from '../../terminal/io.ts';
import { visible } from '../../terminal/sanitise.ts';
import { laidOut } from '../../terminal/table.ts';
import type { DiffPart } from '../checks/tasks.ts';
import { type Grid, type GridCell, type GridPart, type GridState, isBad } from './grid.ts';

const WIDEST_NAME = 24;
const STATE = 7;
/** Columns that would be narrower than this stand one below the other. */
const NARROWEST = 24;
/** Lines of a cell that are shown at most: of what all made the same of, only what it begins with. */
const MOST_LINES = { same: 3, other: 40 };
/** Between rows. */
const LINES = { mid: '─', 'mid-mid': '──' };
/** Characters that are shown on either side of a difference. */
const CONTEXT = 200;

/**
 * A grid on a terminal: what every column made of each row, with what differs marked in its place.
 *
 * @param isWhole whether long texts are shown to their ends
 */
export async function gridTable(
  { stdout, paint }: Pick<Io, 'stdout' | 'paint'>,
  grid: Grid,
  isWhole = false,
): Promise<string> {
  const { columns, measures } = grid;
  const name = Math.min(WIDEST_NAME, Math.max(3, ...grid.rows.map(row => row.name.length)));
  const rest = stdout.columns - name - STATE - 4;
  const share = Math.floor((rest + 2) / columns.length) - 2;
  const isWide = share >= NARROWEST;
  const width = Math.max(NARROWEST, isWide ? share : rest);
  const wrapped = (text: string, most = width): string =>
    text
      .split('\n')
      .map(line => wrap(line, most))
      .join('\n');
  const titled = columns.map(column => paint.bold(wrapped(visible(column.name))));
  const sideBySide = (cells: readonly string[]): string[] =>
    isWide ? [...cells] : [cells.map((cell, at) => `${titled[at]}\n${cell}`).join('\n')];
  const rows = grid.rows.map(({ name: rowName, state, cells }) => [
    wrapped(visible(rowName), name),
    stateColour(state, paint)(state),
    ...sideBySide(
      cells.map(cell => {
        const text = wrapped(cellText(cell, paint, isWhole ? Number.POSITIVE_INFINITY : CONTEXT));
        return isWhole ? text : cutLines(text, state, paint);
      }),
    ),
  ]);
  const totals = columns.map(column => {
    const texts = column.totals.map((total, at) =>
      /^\d+$/u.test(total) ? `${total} ${measures[at] ?? ''}` : total,
    );
    return wrapped(paint.dim(visible(texts.filter(text => text !== '–').join(', '))));
  });
  const head = [paint.bold('Row'), paint.bold('Result'), ...(isWide ? titled : [''])];
  const all = measures.length === 0 ? [] : [['all', '', ...sideBySide(totals)]];
  return laidOut([head, ...rows, ...all], {
    chars: LINES,
    colWidths: [name, STATE, ...head.slice(2).map(() => width)],
  });
}

/** Over several lines, which keeps its indentation; no line but the first begins with the blank it is broken at. */
function wrap(line: string, width: number): string {
  // oxlint-disable-next-line no-control-regex -- colours
  return wrapAnsi(line, width, { hard: true, trim: false }).replace(/\n((?:\u001b\[[\d;]*m)*) /gu, '\n$1');
}

function cellText(cell: GridCell | undefined, paint: ChalkInstance, context: number): string {
  if (cell === undefined) return '';
  const parts = cell.parts.map(part => partText(part, paint, context));
  return [paint.dim(visible(cell.facts.join(', '))), ...parts].join('\n');
}

function partText(part: GridPart, paint: ChalkInstance, context: number): string {
  switch (part.kind) {
    case 'media':
      return paint.dim('(a picture or video)');
    case 'difference':
      return marked(part.parts, paint, context).trimEnd();
    case 'error':
    case 'message':
      return paint.red(visible(part.text));
    case 'text':
    default:
      return visible(part.text).trimEnd();
  }
}

function cutLines(text: string, state: GridState, paint: ChalkInstance): string {
  const lines = text.split('\n');
  const most = isBad(state) || state === 'changed' ? MOST_LINES.other : MOST_LINES.same;
  const more = lines.length - most;
  return more <= 0 ? text : [...lines.slice(0, most), paint.dim(`… ${more} more lines`)].join('\n');
}

function stateColour(state: GridState, paint: ChalkInstance): ChalkInstance {
  if (isBad(state)) return paint.red;
  return state === 'changed' ? paint.yellow : paint.green;
}

/**
 * Differences in colours; without colours with the marks of `git diff --word-diff`.
 *
 * @param context characters that are shown of what is the same on either side of a difference; all by default
 */
export function marked(
  parts: readonly DiffPart[],
  paint: ChalkInstance,
  context = Number.POSITIVE_INFINITY,
): string {
  return parts
    .map(({ kind, text }) => {
      if (kind === 'same' && text.length > 3 * context)
        return `${visible(text.slice(0, context))} ${paint.dim('[…]')} ${visible(text.slice(-context))}`;
      const safe = visible(text);
      if (kind === 'same' || kind === 'note') return safe;
      if (paint.level === 0) return kind === 'removed' ? `[-${safe}-]` : `{+${safe}+}`;
      return kind === 'removed' ? paint.red.strikethrough(safe) : paint.green(safe);
    })
    .join('');
}
