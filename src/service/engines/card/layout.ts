import { characters, type Measure, wrap } from './text.ts';

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
