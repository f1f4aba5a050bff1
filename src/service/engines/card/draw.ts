import type { RenderedImage } from '@resvg/resvg-js';
import { type Font, loadFont } from './font.ts';
import { type Box, type CardLine, layOut } from './layout.ts';
import { scene } from './scene.ts';
import { drawable, type Measure, xmlText } from './text.ts';

const CARD: Box = { width: 1024, height: 640 };
const MARGIN = 72;
const PADDING = 56;
const INK = '#26313d';
const EMPTY = '(an empty prompt)';

/** A picture without its file: four bytes for each pixel, row by row. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rgba: Buffer;
}

/** Draws a text as a card of 1024 × 640, scaled by `zoom`. Gives PNG bytes. */
export async function drawCard(text: string, zoom: number): Promise<Buffer> {
  return (await renderCard(text, zoom)).asPng();
}

/** The same card, as its pixels. */
export async function drawCardPixels(text: string, zoom: number): Promise<Pixels> {
  const { width, height, pixels } = await renderCard(text, zoom);
  return { width, height, rgba: pixels };
}

async function renderCard(text: string, zoom: number): Promise<RenderedImage> {
  const font = await loadFont();
  const { renderAsync } = await import('@resvg/resvg-js');
  return await renderAsync(cardSvg(text, font), {
    font: { loadSystemFonts: false, fontFiles: [font.file], defaultFontFamily: font.family },
    fitTo: { mode: 'zoom', value: zoom },
  });
}

function cardSvg(text: string, font: Font): string {
  const shown = drawable(text).trim() || EMPTY;
  const paper: Box = { width: CARD.width - 2 * MARGIN, height: CARD.height - 2 * MARGIN };
  const inner: Box = { width: paper.width - 2 * PADDING, height: paper.height - 2 * PADDING };
  const laid = layOut(shown, inner, measureWith(font));
  const top = MARGIN + PADDING + (inner.height - laid.height) / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${CARD.width}" height="${CARD.height}">`,
    scene(shown, CARD),
    sheet(paper),
    ...laid.lines.map(line => lineSvg(line, top, font)),
    '</svg>',
  ].join('');
}

/** Each character is looked up once: a text is measured again for every size that is tried. */
function measureWith({ advance }: Font): Measure {
  const known = new Map<string, number>();
  const widthOf = (character: string): number => {
    const width = known.get(character) ?? advance(character.codePointAt(0) ?? 0);
    known.set(character, width);
    return width;
  };
  return text => {
    let width = 0;
    for (const character of text) width += widthOf(character);
    return width;
  };
}

function sheet({ width, height }: Box): string {
  const paper = (offset: number, fill: string): string =>
    `<rect x="${MARGIN}" y="${MARGIN + offset}" width="${width}" height="${height}" rx="22" ${fill}/>`;
  return paper(8, 'fill="#1b2733" fill-opacity="0.22"') + paper(0, 'fill="#fffdf8" fill-opacity="0.93"');
}

function lineSvg({ text, size, heading, baseline }: CardLine, top: number, { family }: Font): string {
  const weight = heading ? ` stroke="${INK}" stroke-width="${size / 36}"` : '';
  const place = `x="${CARD.width / 2}" y="${top + baseline}" text-anchor="middle"`;
  return `<text ${place} font-family="${family}" font-size="${size}" fill="${INK}"${weight}>${xmlText(text)}</text>`;
}
