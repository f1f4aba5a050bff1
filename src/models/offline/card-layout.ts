import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';

export interface CardLine {
  readonly text: string;
  readonly size: number;
  readonly isHeading: boolean;
  /** The distance of the baseline from the top of the text box. */
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

const MIN_CARD_FONT_SIZE = 16;
const CARD_FONT_SIZES = [38, 34, 31, 28, 25, 22, 20, 18, MIN_CARD_FONT_SIZE];

/** The size of a heading, as a factor of the text's. */
const HEADING_SCALE = 1.5;

/** The height of a line, as a factor of the text's size. */
const LEADING = 1.4;

/** The height of a blank line, as a share of a line's. */
const CARD_LINE_GAP = 0.55;
const MAX_HEADING_LENGTH = 48;

/** Maximum length in characters: more never fits at the smallest size. */
const MAX_CARD_LENGTH = 3000;

/** The width of every character, in ems. */
const ADVANCE = 0.602;

/**
 * Lays out a text in a box, as large as fits. Cuts it with `…` if even the smallest size is too
 * large.
 */
export function layOut(text: string, box: Box): CardText {
  const isWhole = text.length <= MAX_CARD_LENGTH;
  const paragraphs = text
    .slice(0, MAX_CARD_LENGTH)
    .replace(/(?<![ \t])[ \t]+$/gm, '')
    .replace(/\n{2,}/g, '\n\n')
    .trim()
    .split('\n');
  for (const size of CARD_FONT_SIZES) {
    const cardText = layOutAt(paragraphs, size, box.width);
    if (cardText.height <= box.height && isWhole) return cardText;
  }

  return cutToBox(layOutAt(paragraphs, MIN_CARD_FONT_SIZE, box.width), box);
}

function layOutAt(paragraphs: readonly string[], body: number, width: number): CardText {
  const lines: CardLine[] = [];
  let height = 0;
  for (const [index, paragraph] of paragraphs.entries()) {
    const isHeading =
      index === 0 && paragraphs.length > 1 && paragraph.length <= MAX_HEADING_LENGTH;
    const size = isHeading ? computeHeadingSize(paragraph, body, width) : body;
    if (paragraph === '') height += body * LEADING * CARD_LINE_GAP;

    const wrapped = wrapAnsi(paragraph, countColumns(width, size), { hard: true }).split('\n');
    for (const text of wrapped.filter(line => line !== '')) {
      height += size * LEADING;
      lines.push({ text, size, isHeading, baseline: height - size * (LEADING - 1) });
    }
  }

  return { lines, height };
}

/** Returns the size of a heading: larger than the text, and on one line if possible. */
function computeHeadingSize(text: string, body: number, width: number): number {
  const onOneLine = width / (Math.max(stringWidth(text), 1) * ADVANCE);
  return onOneLine < body ? body * HEADING_SCALE : Math.min(body * HEADING_SCALE, onOneLine);
}

function countColumns(width: number, size: number): number {
  return Math.floor(width / (size * ADVANCE));
}

function cutToBox({ lines }: CardText, box: Box): CardText {
  const fittingLines = lines.filter(
    ({ baseline, size }) => baseline + size * (LEADING - 1) <= box.height,
  );
  const lastLine = fittingLines.at(-1);
  if (!lastLine) return { lines: [], height: 0 };

  const columns = countColumns(box.width, lastLine.size) - 1;
  const [text = ''] = wrapAnsi(lastLine.text, columns, { hard: true }).split('\n');

  return {
    lines: [...fittingLines.slice(0, -1), { ...lastLine, text: `${text}…` }],
    height: lastLine.baseline + lastLine.size * (LEADING - 1),
  };
}

/** Matches control characters, direction overrides and characters that XML can't hold. */
const UNDRAWABLE =
  /[^\P{Cc}\n]|\p{Cs}|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF\uFFFE\uFFFF]/gu;

/** Removes characters from a text that can't be drawn. */
export function removeUndrawable(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/\t/g, '    ').replace(UNDRAWABLE, '');
}

export function escapeCardText(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);
}
