import stringWidth from 'fast-string-width';
import { errStream } from './err-stream.ts';
import type { Io } from './io.ts';

/** Takes away whatever stands from the cursor on. */
export const ERASE_BELOW = '\u001B[J';

/**
 * A text that leaves the cursor where it begins. However the terminal breaks it again once it gets another size, all of
 * it stays below the cursor, and `ERASE_BELOW` takes it away.
 */
export function parked(text: string, columns: number): string {
  const rowsBelow = Math.max(1, Math.ceil(stringWidth(text) / columns)) - 1;
  return `${text}${rowsBelow > 0 ? `\u001B[${rowsBelow}A` : ''}\r`;
}

/** Standard error for a package that draws one text again and again: the cursor is parked where the text begins. */
export function parkingStream(io: Io): NodeJS.WriteStream {
  const write = (text: string): void =>
    io.err(stringWidth(text) === 0 ? text : parked(text, io.stderr.columns));
  return errStream(io, write, { moveCursor: () => '', clearLine: () => ERASE_BELOW });
}
