/** What stands before the cursor, as the shell would hand it to the program. */
export interface Line {
  /** The finished words after the program's name. */
  readonly words: readonly string[];
  /** The word the cursor is in, as far as the cursor; empty after a space. */
  readonly current: string;
}

export type Quote = '' | "'" | '"';

/** A line of bash, with what is needed to give bash the part of a word that it replaces. */
export interface BashLine extends Line {
  /** How much of `current` stands before the part that is replaced. */
  readonly kept: number;
  /** The quote that is still open. */
  readonly quote: Quote;
}

interface Word {
  value: string;
  /** Length of `value` where readline last starts a word of its own. */
  broken: number;
  /** Length of `value` where the last quote opens. */
  opened: number;
}

/**
 * Takes a line of bash apart without running any of it.
 *
 * @param left the line up to the cursor
 * @param breaks `COMP_WORDBREAKS`: where readline starts a new word, though the shell does not
 */
export function parseBashLine(left: string, breaks: string): BashLine {
  const words: string[] = [];
  let word: Word | undefined;
  let quote: Quote = '';
  for (let at = 0; at < left.length; at += 1) {
    const character = left.charAt(at);
    if (quote === '' && /\s/u.test(character)) {
      if (word !== undefined) words.push(word.value);
      word = undefined;
      continue;
    }
    word ??= { value: '', broken: 0, opened: 0 };
    if (character === quote) {
      quote = '';
    } else if (quote === '' && (character === "'" || character === '"')) {
      quote = character;
      word.opened = word.value.length;
    } else if (character === '\\' && isEscape(quote, left.charAt(at + 1))) {
      at += 1;
      word.value += left.charAt(at);
    } else {
      word.value += character;
      if (quote === '' && breaks.includes(character)) word.broken = word.value.length;
    }
  }
  const { value = '', broken = 0, opened = 0 } = word ?? {};
  return { words: argumentsOf(words), current: value, kept: quote === '' ? broken : opened, quote };
}

/** A word without its quotes, finished or not. */
export function unquoted(raw: string): string {
  return parseBashLine(`- ${raw}`, '').current;
}

/** What follows the program's name, which variables may be set before. */
function argumentsOf(words: readonly string[]): string[] {
  const program = words.findIndex(word => !/^\w+=/u.test(word));
  return program < 0 ? [] : words.slice(program + 1);
}

function isEscape(quote: Quote, next: string): boolean {
  return quote === '' || (quote === '"' && /["$`\\]/u.test(next));
}
