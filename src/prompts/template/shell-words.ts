/** Matches a word, parts of which may be quoted: `--to='a b'`, `"a b"c` and `a\ b`. */
const QUOTABLE_WORD = /(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|[^\s'"\\]|['"\\])+/gu;

/** Matches a quoted part of a word: in single quotes, in double quotes, or after a backslash. */
const QUOTED_PART = /'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])/gu;

/**
 * Splits a text into words like a POSIX shell, at unquoted blanks. An unclosed quote is plain text.
 */
export function splitShellWords(text: string): string[] {
  const words = text.match(QUOTABLE_WORD) ?? [];
  return words.map(word =>
    word.replace(
      QUOTED_PART,
      (_, single?: string, double?: string, escaped?: string) =>
        single ?? double?.replace(/\\(["\\$`])/gu, '$1') ?? escaped ?? '',
    ),
  );
}
