import stringWidth from 'fast-string-width';
import type { Env } from '../../core/types.ts';
import { ERASE_BELOW, errStream } from '../../terminal/err-stream.ts';
import type { Io } from '../../terminal/io.ts';

const CSI = '\u001b\\[';
/** How a question takes away what it drew last: down to the last line of it, then line after line up. */
const TAKEN_AWAY = new RegExp(`^(?:${CSI}\\d+B)?(?:${CSI}2K(?:${CSI}1A)?)+${CSI}G`, 'u');
/** Where it leaves the cursor: so many lines up, in that column. */
const CURSOR = new RegExp(`(?:${CSI}(\\d+)A)?${CSI}(\\d+)G$`, 'u');
const CURSOR_ALONE = new RegExp(`^${CSI}(\\d+)G$`, 'u');
/** Where the cursor is, at best, once there are more lines than rows: the terminal has moved them. */
const TOP = '\u001b[H';

/** What a question has drawn, and where the cursor is in it. */
interface Drawn {
  readonly lines: readonly string[];
  readonly line: number;
  readonly column: number;
  /** How wide the terminal was then. */
  readonly columns: number;
}

/** Where a question draws. */
export interface QuestionScreen {
  readonly stream: NodeJS.WriteStream;
  /** Lends the terminal to another program; nothing is drawn until it is back. */
  lend<T>(use: () => Promise<T>): Promise<T>;
  /** Leaves what is drawn as it is. */
  close(): void;
}

/**
 * A question counts the lines it drew to take them away again. A terminal that gets narrower breaks them again, and the
 * count no longer holds; so here they are counted as they lie on the terminal, and drawn again when its size changes,
 * unless the question does so itself.
 */
export function questionScreen({ io, env }: { readonly io: Io; readonly env: Env }): QuestionScreen {
  let drawn: Drawn | undefined;
  let lent = false;
  const erase = (): string => {
    if (drawn === undefined) return '';
    const { columns, rows } = io.stderr;
    const start = rowsOfAll(drawn.lines, columns) > rows ? TOP : up(rowsToStart(drawn, columns, env));
    return `${start}\r${ERASE_BELOW}`;
  };
  const write = (text: string): void => {
    const rest = text.replace(TAKEN_AWAY, '');
    const column = CURSOR_ALONE.exec(text)?.[1];
    io.err(rest === text ? text : erase() + rest);
    if (column === undefined) drawn = drawnBy(rest, io.stderr.columns);
    else if (drawn !== undefined) drawn = movedTo(drawn, Number(column) - 1);
  };
  const redraw = (before: Drawn): void => {
    if (drawn !== before || lent) return; // the question has drawn itself again
    const erased = erase();
    drawn = fitting(before, io.stderr);
    io.err(erased + redrawn(drawn, io.stderr.columns));
  };
  const stop = io.onResize(() => {
    if (drawn !== undefined) setImmediate(redraw, drawn);
  });
  return {
    stream: errStream(io, write),
    close: () => {
      drawn = undefined;
      stop();
    },
    async lend(use) {
      lent = true;
      try {
        return await use();
      } finally {
        lent = false;
      }
    },
  };
}

/** Undefined of a text that does not end with where the cursor goes: the question is over. */
function drawnBy(text: string, columns: number): Drawn | undefined {
  const cursor = CURSOR.exec(text);
  if (cursor === null) return undefined;
  const [all, linesUp = '0', column = '1'] = cursor;
  const lines = text.slice(0, -all.length).split('\n');
  return { lines, line: lines.length - 1 - Number(linesUp), column: Number(column) - 1, columns };
}

/** The cursor in another column of the row it is in. */
function movedTo(drawn: Drawn, column: number): Drawn {
  return { ...drawn, column: drawn.column - (drawn.column % drawn.columns) + column };
}

/** How far the cursor is below what was drawn first, once the terminal has broken the lines for its new width. */
function rowsToStart(drawn: Drawn, columns: number, env: Env): number {
  if (env['TERM_PROGRAM'] !== 'vscode') return rowsAbove(drawn, columns);
  // xterm.js leaves the line with the cursor as it is, and moves the cursor for each row that any other line gains.
  const others = drawn.lines.toSpliced(drawn.line, 1);
  return rowsAbove(drawn, drawn.columns) + rowsOfAll(others, columns) - rowsOfAll(others, drawn.columns);
}

function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(stringWidth(line) / columns));
}

function rowsOfAll(lines: readonly string[], columns: number): number {
  return lines.reduce((rows, line) => rows + rowsOf(line, columns), 0);
}

function rowsAbove({ lines, line, column }: Drawn, columns: number): number {
  return rowsOfAll(lines.slice(0, line), columns) + Math.floor(column / columns);
}

/** Without the last lines, as far as they don't fit on the screen. */
function fitting(drawn: Drawn, { columns, rows }: Io['stderr']): Drawn {
  const { lines, line } = drawn;
  const fits = (count: number): boolean => rowsOfAll(lines.slice(0, count), columns) <= rows;
  let count = lines.length;
  while (count > line + 1 && !fits(count)) count -= 1;
  return { ...drawn, lines: lines.slice(0, count), columns };
}

function redrawn(drawn: Drawn, columns: number): string {
  const { lines, column } = drawn;
  const below = rowsOfAll(lines, columns) - 1 - rowsAbove(drawn, columns);
  return `${lines.join('\n')}${up(below)}\u001b[${(column % columns) + 1}G`;
}

function up(rows: number): string {
  return rows > 0 ? `\u001b[${rows}A` : '';
}
