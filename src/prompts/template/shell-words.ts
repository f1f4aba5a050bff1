/**
 * Splits a text into words like a POSIX shell, at unquoted blanks. An unclosed quote is plain text.
 */
export function splitShellWords(text: string): string[] {
  const words = text.match(/(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|[^\s'"\\]|['"\\])+/gu) ?? [];
  return words.map(word =>
    word.replace(
      /'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])/gu,
      (_, single?: string, double?: string, escaped?: string) =>
        single ?? double?.replace(/\\(["\\$`])/gu, '$1') ?? escaped ?? '',
    ),
  );
}
