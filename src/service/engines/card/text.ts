/** Control characters, direction overrides and what XML can't hold. */
const UNDRAWABLE = /[^\P{Cc}\n]|\p{Cs}|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF\uFFFE\uFFFF]/gu;

/** A text with nothing in it that could not be drawn. */
export function drawable(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/\t/g, '    ').replace(UNDRAWABLE, '');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** A text as it is written in XML. */
export function xmlText(text: string): string {
  return text.replace(/[&<>"']/g, character => ENTITIES[character] ?? character);
}

/** How wide a text is, in ems. */
export type Measure = (text: string) => number;

/** Breaks a text into lines of at most `width` ems: between words, and within those that are too long for a line. */
export function wrap(text: string, width: number, measure: Measure): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words(text)) {
    if (measure(line + word.trimEnd()) <= width) {
      line += word;
      continue;
    }
    if (line.trim() !== '') lines.push(line.trimEnd());
    const pieces = breakWord(word, width, measure);
    lines.push(...pieces.slice(0, -1));
    line = pieces.at(-1) ?? '';
  }
  if (line.trim() !== '') lines.push(line.trimEnd());
  return lines;
}

/** Words with the spaces after them; scripts that write none may break after every character. */
function words(text: string): string[] {
  return (
    text.match(
      /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]\s*|[^\s\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]+\s*|\s+/gu,
    ) ?? []
  );
}

/** What people take for characters: an accent stays with its letter, an emoji is one. */
export function characters(text: string): string[] {
  return Array.from(new Intl.Segmenter('en').segment(text), ({ segment }) => segment);
}

function breakWord(word: string, width: number, measure: Measure): string[] {
  const pieces: string[] = [];
  let piece = '';
  let taken = 0;
  for (const character of characters(word)) {
    const advance = measure(character);
    if (piece !== '' && taken + advance > width && character.trim() !== '') {
      pieces.push(piece);
      piece = '';
      taken = 0;
    }
    piece += character;
    taken += advance;
  }
  return [...pieces, piece];
}
