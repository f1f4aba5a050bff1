import { Writable } from 'node:stream';
import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';
import type { Io } from './io.ts';

/** How the calls are written by which packages move the cursor and take away what they drew. */
interface Controls {
  readonly moveCursor: (dx: number, dy: number) => string;
  readonly clearLine: (direction: -1 | 0 | 1) => string;
}

const CONTROLS: Controls = {
  moveCursor: (dx, dy) => move(dx, 'C', 'D') + move(dy, 'B', 'A'),
  clearLine: direction => `\u001B[${direction === 0 ? 2 : direction < 0 ? 1 : 0}K`,
};

/** Standard error as packages want a terminal to be; what they draw is put out by `write`, by default as it is. */
export function errStream(
  io: Io,
  write: (text: string) => void = io.err,
  controls: Controls = CONTROLS,
): NodeJS.WriteStream {
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) => {
      write(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
      done();
    },
  });
  const control = (sequence: string): boolean => {
    io.err(sequence);
    return true;
  };
  Object.defineProperties(stream, {
    isTTY: { value: true },
    columns: { get: () => io.stderr.columns },
    rows: { get: () => io.stderr.rows },
    cursorTo: { value: (column: number) => control(`\u001B[${column + 1}G`) },
    clearLine: { value: (direction: -1 | 0 | 1) => control(controls.clearLine(direction)) },
    moveCursor: { value: (dx: number, dy: number) => control(controls.moveCursor(dx, dy)) },
  });
  return stream as unknown as NodeJS.WriteStream;
}

function move(distance: number, forward: string, back: string): string {
  if (distance === 0) return '';
  return `\u001B[${Math.abs(distance)}${distance > 0 ? forward : back}`;
}

/** Takes away whatever stands from the cursor on. */
export const ERASE_BELOW = '\u001B[J';
/** The terminal breaks no lines itself: it may have got narrower a moment ago. */
const KEEP_LINES = '\u001B[?7l';
const BREAK_LINES = '\u001B[?7h';

/**
 * A text that leaves the cursor where it begins. However the terminal breaks it again once it gets another size, all of
 * it stays below the cursor, and `ERASE_BELOW` takes it away.
 */
export function parked(text: string, columns: number): string {
  const lines = wrapAnsi(text, columns, { hard: true, trim: false, wordWrap: false }).split('\n');
  const up = lines.length > 1 ? `\u001B[${lines.length - 1}A` : '';
  return `${KEEP_LINES}${lines.join('\r\n')}${up}\r${BREAK_LINES}`;
}

/** Standard error for a package that draws one text again and again: the cursor is parked where the text begins. */
export function parkingStream(io: Io): NodeJS.WriteStream {
  const write = (text: string): void =>
    io.err(stringWidth(text) === 0 ? text : parked(text, io.stderr.columns));
  return errStream(io, write, { moveCursor: () => '', clearLine: () => ERASE_BELOW });
}
