export interface CardLine {
  readonly text: string;
  readonly size: number;
  readonly heading: boolean;
  /** Of the line's foot, from the top of the text's box. */
  readonly baseline: number;
}

export interface CardText {
  readonly lines: readonly CardLine[];
  readonly height: number;
}

export interface Box {
  readonly width: number;
  readonly height: number;
}

const SIZES = [40, 36, 32, 28, 25, 22, 20, 18, 16];
const HEADING = 1.5;
const LEADING = 1.4;
/** A blank line, as a share of a line's height. */
const GAP = 0.55;
const MAX_HEADING_LENGTH = 48;
/** More than this never fits at the smallest size. */
const MAX_LENGTH = 3000;

/** Lays a text out in a box: as large as fits, and where even the smallest is too large, cut with `…`. */
export function layOut(text: string, box: Box, measure: Measure): CardText {
  const paragraphs = paragraphsOf(text);
  for (const size of SIZES) {
    const laid = layOutAt(paragraphs, size, box.width, measure);
    if (laid.height <= box.height && laid.whole) return laid;
  }
  return cut(layOutAt(paragraphs, SIZES.at(-1) ?? 16, box.width, measure), box, measure);
}

interface Laid extends CardText {
  /** Whether nothing was left out. */
  readonly whole: boolean;
}

interface Paragraphs {
  readonly texts: readonly string[];
  readonly whole: boolean;
}

function paragraphsOf(text: string): Paragraphs {
  const whole = text.length <= MAX_LENGTH;
  const texts = text
    .slice(0, MAX_LENGTH)
    .replace(/(?<![ \t])[ \t]+$/gm, '')
    .replace(/\n{2,}/g, '\n\n')
    .trim()
    .split('\n');
  return { texts, whole };
}

function layOutAt({ texts, whole }: Paragraphs, body: number, width: number, measure: Measure): Laid {
  const lines: CardLine[] = [];
  let height = 0;
  texts.forEach((text, index) => {
    const heading = index === 0 && texts.length > 1 && text.length <= MAX_HEADING_LENGTH;
    const size = heading ? headingSize(text, body, width, measure) : body;
    if (text === '') {
      height += body * LEADING * GAP;
    } else {
      for (const line of wrap(text, width / size, measure)) {
        height += size * LEADING;
        lines.push({ text: line, size, heading, baseline: height - size * (LEADING - 1) });
      }
    }
  });
  return { lines, height, whole };
}

/** Larger than the text below, and on one line where that can be had. */
function headingSize(text: string, body: number, width: number, measure: Measure): number {
  const onOneLine = width / Math.max(measure(text), 1);
  return onOneLine < body ? body * HEADING : Math.min(body * HEADING, onOneLine);
}

function cut(laid: Laid, box: Box, measure: Measure): CardText {
  const fitting = laid.lines.filter(({ baseline, size }) => baseline + size * (LEADING - 1) <= box.height);
  const last = fitting.at(-1);
  if (!last) return { lines: [], height: 0 };
  let text = last.text;
  while (text !== '' && measure(`${text}…`) > box.width / last.size) {
    text = characters(text).slice(0, -1).join('');
  }
  const lines = [...fitting.slice(0, -1), { ...last, text: `${text.trimEnd()}…` }];
  return { lines, height: last.baseline + last.size * (LEADING - 1) };
}

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
