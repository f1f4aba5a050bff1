import { Help } from 'commander';

/** Minimum width of a text column; narrower text is hard to read and goes below its term. */
const MIN_TEXT_WIDTH = 24;

/** Indentation of a text that stands below its term. */
const TEXT_INDENT = 6;

/** Length of the blank before a word, and of the ` \` that continues its line. */
const JOIN_LENGTH = 3;

const COMMENT_START = '  # ';

/** Matches a word of a command line, with quoted blanks. */
const COMMAND_WORD = /(?:[^\s"']|"[^"]*"|'[^']*')+/gu;

/**
 * Breaks lines that are too long between words. Indented lines hang; the text of `  term  text`
 * stays in its column.
 */
export function wrapLines(text: string, columns: number): string {
  return text
    .split('\n')
    .map(line => (line.length <= columns ? line : wrapLine(line, columns)))
    .join('\n');
}

/**
 * Returns a term, padded and indented, with its text in its own column, or below it if there is no
 * room for one.
 */
export function wrapRow(term: string, text: string, columns: number): string {
  if (columns - term.length >= MIN_TEXT_WIDTH) {
    return term + wrapIndented(text, term.length, columns);
  }
  return `${wrapLines(term.trimEnd(), columns)}\n${' '.repeat(TEXT_INDENT)}${wrapIndented(text, TEXT_INDENT, columns)}`;
}

function wrapLine(line: string, columns: number): string {
  const indent = line.length - line.trimStart().length;
  const gap = line.indexOf('  ', indent);
  if (gap > 0) {
    const text = line.slice(gap).trimStart();
    return wrapRow(line.slice(0, line.length - text.length), text, columns);
  }

  const hang = indent === 0 ? 0 : indent + 2;
  return ' '.repeat(indent) + wrapIndented(line.trimStart(), hang, columns);
}

/**
 * Breaks a text into lines that leave room for an indentation; every line but the first is
 * indented.
 */
function wrapIndented(text: string, indent: number, columns: number): string {
  // Only help is wrapped here, which has loaded commander anyway.
  const help = new Help();
  help.minWidthToWrap = 1;
  return help.boxWrap(text, columns - indent).replaceAll('\n', `\n${' '.repeat(indent)}`);
}

/**
 * Breaks an indented command line that is too long so that it can still be pasted, its comment
 * above it.
 *
 * A line with a quoted part that fits on no line stays whole, and so does one after the name of a
 * shell, as in `bash: …`.
 */
export function wrapCommand(line: string, columns: number): string {
  const isShellExample = /^ +\w+: /u.test(line);
  if (line.length <= columns || isShellExample) return line;

  const [command = '', comment] = line.split(' # ');
  const words = command.match(COMMAND_WORD) ?? [];
  if (words.some(word => /["']/u.test(word) && word.length > columns - TEXT_INDENT)) return line;

  const lines: string[] = [];
  let currentLine = ' ';
  for (const word of words) {
    if (currentLine.length + word.length + JOIN_LENGTH > columns && currentLine.trim() !== '') {
      lines.push(`${currentLine} \\`);
      currentLine = '   ';
    }
    currentLine += ` ${word}`;
  }

  lines.push(currentLine);
  if (comment === undefined) return lines.join('\n');

  const commentLines = wrapIndented(comment, 0, columns - COMMENT_START.length).split('\n');
  return [...commentLines.map(text => COMMENT_START + text), ...lines].join('\n');
}
