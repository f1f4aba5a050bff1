import { isEnterKey, type useKeypress, useRef } from '@inquirer/core';
import type { Io } from '../../terminal/io.ts';

type Handler = Parameters<typeof useKeypress>[0];
export type Key = Parameters<Handler>[0];
export type Line = Parameters<Handler>[1];

const START_BRACKETING = '\u001b[?2004h';
const STOP_BRACKETING = '\u001b[?2004l';

/** Has the terminal say where something pasted begins and ends, for as long as `ask` takes. */
export async function bracketingPastes<T>(io: Io, ask: () => Promise<T>): Promise<T> {
  io.err(START_BRACKETING);
  try {
    return await ask();
  } finally {
    io.err(STOP_BRACKETING);
  }
}

/** As if it were not bracketed: for programs that the terminal is lent to. */
export async function withoutBracketing<T>(io: Io, signal: AbortSignal, use: () => Promise<T>): Promise<T> {
  io.err(STOP_BRACKETING);
  try {
    return await use();
  } finally {
    if (!signal.aborted) io.err(START_BRACKETING);
  }
}

/**
 * Takes the keys of something pasted, so that a line break in it is not Enter. Hands over its lines but the last, which
 * is on the line of the question by then.
 */
export function usePaste(
  take: (lines: readonly string[], line: Line) => void,
): (key: Key, line: Line) => boolean {
  const paste = useRef<{ readonly lines: string[]; line: string; after: string } | undefined>(undefined);
  return (key, line) => {
    const { current } = paste;
    if (key.name === 'paste-start') {
      paste.current = { lines: [], line: line.line, after: '' };
    } else if (current === undefined) {
      return false;
    } else if (key.name === 'paste-end') {
      paste.current = undefined;
      take(current.lines, line);
    } else if (isEnterKey(key)) {
      // A carriage return and a line feed are one line break.
      if (key.name !== 'enter' || current.after !== 'return') current.lines.push(current.line);
      current.line = '';
      current.after = key.name;
    } else {
      current.line = line.line;
      current.after = key.name;
    }
    return true;
  };
}
