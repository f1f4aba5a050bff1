/** Splits a text into words as a POSIX shell does: at blanks that are not quoted. A quote that never ends is text. */
export function shellWords(text: string): string[] {
  const words = text.match(/(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|[^\s'"\\]|['"\\])+/gu) ?? [];
  return words.map(word =>
    word.replace(
      /'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])/gu,
      (_, single?: string, double?: string, escaped?: string) =>
        single ?? double?.replace(/\\(["\\$`])/gu, '$1') ?? escaped ?? '',
    ),
  );
}
