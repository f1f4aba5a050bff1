import { Writable } from 'node:stream';
import type { Io } from './io.ts';

/** Standard error as packages want a terminal to be, written to by way of `io`. */
export function errStream(io: Io): NodeJS.WriteStream {
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) => {
      io.err(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
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
    clearLine: {
      value: (direction: -1 | 0 | 1) => control(`\u001B[${direction === 0 ? 2 : direction < 0 ? 1 : 0}K`),
    },
    moveCursor: { value: (dx: number, dy: number) => control(move(dx, 'C', 'D') + move(dy, 'B', 'A')) },
  });
  return stream as unknown as NodeJS.WriteStream;
}

function move(distance: number, forward: string, back: string): string {
  if (distance === 0) return '';
  return `\u001B[${Math.abs(distance)}${distance > 0 ? forward : back}`;
}
