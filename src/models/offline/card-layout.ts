import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';

export interface CardLine {
  readonly text: string;
  readonly fontSize: number;
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

/** The font size of a heading, as a factor of the body's. */
const HEADING_SCALE = 1.5;

/** The height of a line, as a factor of its font size. */
const LINE_HEIGHT = 1.4;

/** The height of a blank line, as a share of a line's. */
const BLANK_LINE_SHARE = 0.55;
const MAX_HEADING_LENGTH = 48;

/** Maximum length in characters: a longer text never fits, even at the smallest font size. */
const MAX_CARD_LENGTH = 3000;

/** The width of every character in ems, because the font is monospaced. */
const CHARACTER_WIDTH = 0.602;

/**
 * Lays out a text in a box, as large as fits. Cuts it with `…` if even the smallest size is too
 * large.
 */
export function layOut(text: string, box: Box): CardText {
  const isComplete = text.length <= MAX_CARD_LENGTH;
  const paragraphs = text
    .slice(0, MAX_CARD_LENGTH)
    .replace(/(?<![ \t])[ \t]+$/gm, '')
    .replace(/\n{2,}/g, '\n\n')
    .trim()
    .split('\n');
  for (const size of CARD_FONT_SIZES) {
    const cardText = layOutAt(paragraphs, size, box.width);
    if (cardText.height <= box.height && isComplete) return cardText;
  }

  return cutToBox(layOutAt(paragraphs, MIN_CARD_FONT_SIZE, box.width), box);
}

function layOutAt(paragraphs: readonly string[], bodySize: number, width: number): CardText {
  const lines: CardLine[] = [];
  let height = 0;
  for (const [index, paragraph] of paragraphs.entries()) {
    const isHeading =
      index === 0 && paragraphs.length > 1 && paragraph.length <= MAX_HEADING_LENGTH;
    const fontSize = isHeading ? computeHeadingSize(paragraph, bodySize, width) : bodySize;
    if (paragraph === '') height += bodySize * LINE_HEIGHT * BLANK_LINE_SHARE;

    const wrappedLines = wrapAnsi(paragraph, countColumns(width, fontSize), { hard: true }).split(
      '\n',
    );
    for (const text of wrappedLines.filter(line => line !== '')) {
      height += fontSize * LINE_HEIGHT;
      lines.push({ text, fontSize, isHeading, baseline: height - fontSize * (LINE_HEIGHT - 1) });
    }
  }

  return { lines, height };
}

/** Returns the font size of a heading: larger than the body's, and on one line if possible. */
function computeHeadingSize(text: string, bodySize: number, width: number): number {
  const oneLineSize = width / (Math.max(stringWidth(text), 1) * CHARACTER_WIDTH);
  return oneLineSize < bodySize
    ? bodySize * HEADING_SCALE
    : Math.min(bodySize * HEADING_SCALE, oneLineSize);
}

function countColumns(width: number, size: number): number {
  return Math.floor(width / (size * CHARACTER_WIDTH));
}

function cutToBox({ lines }: CardText, box: Box): CardText {
  const fittingLines = lines.filter(
    ({ baseline, fontSize }) => baseline + fontSize * (LINE_HEIGHT - 1) <= box.height,
  );
  const lastLine = fittingLines.at(-1);
  if (!lastLine) return { lines: [], height: 0 };

  const columns = countColumns(box.width, lastLine.fontSize) - 1;
  const [text = ''] = wrapAnsi(lastLine.text, columns, { hard: true }).split('\n');

  return {
    lines: [...fittingLines.slice(0, -1), { ...lastLine, text: `${text}…` }],
    height: lastLine.baseline + lastLine.fontSize * (LINE_HEIGHT - 1),
  };
}

/** Matches control characters, direction overrides and characters that XML can't hold. */
const UNDRAWABLE_CHARACTERS =
  /[^\P{Cc}\n]|\p{Cs}|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF\uFFFE\uFFFF]/gu;

/** Removes characters that can't be drawn. Line breaks become LF, and tabs spaces. */
export function removeUndrawableCharacters(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/\t/g, '    ').replace(UNDRAWABLE_CHARACTERS, '');
}

export function escapeCardText(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);
}
