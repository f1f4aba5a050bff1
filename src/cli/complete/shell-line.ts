/** The words before the cursor, as the shell would pass them to the program. */
export interface ShellLine {
  /** The finished words after the program's name. */
  readonly words: readonly string[];
  /** The word under the cursor, up to the cursor; empty after a space. */
  readonly current: string;
}

export type QuoteMark = '' | "'" | '"';

/** A line of bash, with the part of the word that bash replaces. */
export interface BashLine extends ShellLine {
  /** The length of `current` before the replaced part. */
  readonly keptLength: number;
  readonly quote: QuoteMark;
}

interface Word {
  value: string;
  /** The length of `value` at the last start of a readline word. */
  breakAt: number;
  /** The length of `value` at the last opening quote. */
  quoteAt: number;
}

/**
 * Parses a line of bash without running any of it.
 *
 * @param lineBeforeCursor the line up to the cursor
 * @param breaks `COMP_WORDBREAKS`: characters after which readline starts a new word, although the
 * shell does not
 */
export function parseBashLine(lineBeforeCursor: string, breaks: string): BashLine {
  const words: string[] = [];
  let word: Word | undefined;
  let quote: QuoteMark = '';
  for (let index = 0; index < lineBeforeCursor.length; index += 1) {
    const character = lineBeforeCursor.charAt(index);
    if (quote === '' && /\s/u.test(character)) {
      if (word !== undefined) words.push(word.value);
      word = undefined;
      continue;
    }

    word ??= { value: '', breakAt: 0, quoteAt: 0 };

    if (character === quote) {
      quote = '';
    } else if (quote === '' && (character === "'" || character === '"')) {
      quote = character;
      word.quoteAt = word.value.length;
    } else if (character === '\\' && isEscape(quote, lineBeforeCursor.charAt(index + 1))) {
      index += 1;
      word.value += lineBeforeCursor.charAt(index);
    } else {
      word.value += character;
      if (quote === '' && breaks.includes(character)) word.breakAt = word.value.length;
    }
  }

  const { value = '', breakAt = 0, quoteAt = 0 } = word ?? {};
  return {
    words: getProgramArguments(words),
    current: value,
    keptLength: quote === '' ? breakAt : quoteAt,
    quote,
  };
}

/** Removes the quotes of a word, even of an unfinished one. */
export function unquoteWord(raw: string): string {
  return parseBashLine(`- ${raw}`, '').current;
}

/** Returns the words after the program's name, which assignments of variables may precede. */
function getProgramArguments(words: readonly string[]): string[] {
  const program = words.findIndex(word => !/^\w+=/u.test(word));
  return program < 0 ? [] : words.slice(program + 1);
}

function isEscape(quote: QuoteMark, next: string): boolean {
  return quote === '' || (quote === '"' && /["$`\\]/u.test(next));
}
