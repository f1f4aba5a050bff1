import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';
import { toOneLine } from './sanitise.ts';

/** Maximum number of lines of a paragraph. */
const MAX_PARAGRAPH_LINES = 4;

/** Number of blanks before each line of a paragraph. */
const PARAGRAPH_INDENT = 2;

/** Returns a text on one line of at most `columns`, sanitised; `…` marks a cut. */
export function fitOnLine(text: string, columns: number): string {
  const line = toOneLine(text);
  if (stringWidth(line) <= columns) return line;

  let fittingText = '';
  for (const { segment } of new Intl.Segmenter().segment(line.slice(0, columns * 4))) {
    if (stringWidth(fittingText + segment) > columns - 1) break;
    fittingText += segment;
  }

  return `${fittingText}…`;
}

/** Wraps a text into a few indented lines. */
export function wrapParagraph(text: string, columns: number): string {
  const width = columns - PARAGRAPH_INDENT - 1;
  return wrapAnsi(fitOnLine(text, width * MAX_PARAGRAPH_LINES), width, { trim: true, hard: true })
    .split('\n')
    .map(line => ' '.repeat(PARAGRAPH_INDENT) + line)
    .join('\n');
}
