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
  /** The index in `value` at which the last readline word begins. */
  breakIndex: number;
  /** The index in `value` at which the last quoted part begins. */
  quoteIndex: number;
}

const EMPTY_WORD: Readonly<Word> = { value: '', breakIndex: 0, quoteIndex: 0 };

/**
 * Parses a line of bash without running any of it.
 *
 * @param lineBeforeCursor the line up to the cursor
 * @param wordBreaks `COMP_WORDBREAKS`: characters after which readline starts a new word, although the
 * shell does not
 */
export function parseBashLine(lineBeforeCursor: string, wordBreaks: string): BashLine {
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

    word ??= { ...EMPTY_WORD };

    if (character === quote) {
      quote = '';
    } else if (quote === '' && (character === "'" || character === '"')) {
      quote = character;
      word.quoteIndex = word.value.length;
    } else if (character === '\\' && isEscape(quote, lineBeforeCursor.charAt(index + 1))) {
      index += 1;
      word.value += lineBeforeCursor.charAt(index);
    } else {
      word.value += character;
      if (quote === '' && wordBreaks.includes(character)) word.breakIndex = word.value.length;
    }
  }

  const { value, breakIndex, quoteIndex } = word ?? EMPTY_WORD;
  return {
    words: getProgramArguments(words),
    current: value,
    keptLength: quote === '' ? breakIndex : quoteIndex,
    quote,
  };
}

/** Removes the quotes and escapes of a word, which may be unfinished. */
export function unquoteWord(raw: string): string {
  // The first word of a line is the program.
  return parseBashLine(`program ${raw}`, '').current;
}

/** Returns the words after the program's name, which assignments of variables may precede. */
function getProgramArguments(words: readonly string[]): string[] {
  const programIndex = words.findIndex(word => !/^\w+=/u.test(word));
  return programIndex < 0 ? [] : words.slice(programIndex + 1);
}

/** Returns true if a backslash escapes the next character, rather than standing for itself. */
function isEscape(quote: QuoteMark, next: string): boolean {
  return quote === '' || (quote === '"' && /["$`\\]/u.test(next));
}
