import { createHash } from 'node:crypto';
import { resolveInstalledFile } from '../../files/installed/installed-file.ts';
import { isSingleFile } from '../../files/installed/single-file.ts';
import {
  type Box,
  type CardLine,
  escapeCardText,
  layOut,
  removeUndrawableCharacters,
} from './card-layout.ts';

const CARD: Box = { width: 1024, height: 640 };
const MARGIN = 72;
const PADDING = 56;
const INK = '#26313d';
const EMPTY_CARD_TEXT = '(an empty prompt)';

/** The only font of cards, so that they look the same everywhere. */
const FONT = 'DejaVu Sans Mono';
const FONT_FILE = 'DejaVuSansMono.ttf';

/**
 * Draws a text as a card of 1024 × 640 pixels, scaled by `zoom`, as PNG.
 *
 * @throws {Error} if the font is not installed
 */
export async function drawCard(text: string, zoom: number): Promise<Buffer> {
  const file = await resolveFontFile();
  const { renderAsync } = await import('@resvg/resvg-js');
  const image = await renderAsync(renderCard(text), {
    font: { loadSystemFonts: false, fontFiles: [file], defaultFontFamily: FONT },
    fitTo: { mode: 'zoom', value: zoom },
  });
  return image.asPng();
}

/** Returns the font's file, because the renderer reads fonts from files only. */
async function resolveFontFile(): Promise<string> {
  const name = `dist/assets/${FONT_FILE}`;
  if (!isSingleFile()) {
    return resolveInstalledFile(
      name,
      `assets/${FONT_FILE}`,
      `node_modules/dejavu-fonts-ttf/ttf/${FONT_FILE}`,
    );
  }

  const { getPackedFile, withUnpackedFile } = await import(
    '../../files/installed/unpacked-file.ts'
  );
  return withUnpackedFile(getPackedFile(name), file => file);
}

function renderCard(text: string): string {
  const cardText = removeUndrawableCharacters(text).trim() || EMPTY_CARD_TEXT;
  const paper: Box = { width: CARD.width - 2 * MARGIN, height: CARD.height - 2 * MARGIN };
  const textBox: Box = { width: paper.width - 2 * PADDING, height: paper.height - 2 * PADDING };
  const layout = layOut(cardText, textBox);
  const top = MARGIN + PADDING + (textBox.height - layout.height) / 2;

  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${CARD.width}" height="${CARD.height}">`,
    renderScene(cardText, CARD),
    renderSheet(paper),
    ...layout.lines.map(line => renderLine(line, top)),
    '</svg>',
  ].join('');
}

function renderSheet({ width, height }: Box): string {
  const renderPaper = (offset: number, fill: string): string =>
    `<rect x="${MARGIN}" y="${MARGIN + offset}" width="${width}" height="${height}" rx="22" ${fill}/>`;
  return (
    renderPaper(8, 'fill="#1b2733" fill-opacity="0.22"') +
    renderPaper(0, 'fill="#fffdf8" fill-opacity="0.93"')
  );
}

function renderLine({ text, fontSize, isHeading, baseline }: CardLine, top: number): string {
  const weight = isHeading ? ` stroke="${INK}" stroke-width="${fontSize / 36}"` : '';
  const placement = `x="${CARD.width / 2}" y="${top + baseline}" text-anchor="middle"`;
  return `<text ${placement} font-family="${FONT}" font-size="${fontSize}" fill="${INK}"${weight}>${escapeCardText(text)}</text>`;
}

/** Hues of sky and hills: noon, dawn, dusk, aurora, a summer evening. */
const PALETTES = [
  { high: 205, low: 190, far: 165, near: 150 },
  { high: 350, low: 30, far: 265, near: 245 },
  { high: 262, low: 325, far: 250, near: 230 },
  { high: 185, low: 150, far: 205, near: 215 },
  { high: 22, low: 48, far: 350, near: 335 },
] as const;

/** Returns a landscape derived from the text: equal texts give equal images. */
function renderScene(text: string, card: Box): string {
  const { width, height } = card;
  const { palette, sunX, hillLift } = deriveTraits(text);
  const farTop = height * (0.62 - hillLift * 0.08);
  const nearTop = height * (0.8 - hillLift * 0.05);

  return [
    `<defs><linearGradient id="sky" x1="0" y1="0" x2="0" y2="1">`,
    `<stop offset="0" stop-color="hsl(${palette.high}, 65%, 62%)"/>`,
    `<stop offset="1" stop-color="hsl(${palette.low}, 80%, 88%)"/></linearGradient></defs>`,
    `<rect width="${width}" height="${height}" fill="url(#sky)"/>`,
    `<circle cx="${width * sunX}" cy="${height * 0.11}" r="${height * 0.1}" fill="#fff7dd" fill-opacity="0.9"/>`,
    renderHills(card, { top: farTop, colour: `hsl(${palette.far}, 32%, 62%)`, swingShare: 0.09 }),
    renderHills(card, {
      top: nearTop,
      colour: `hsl(${palette.near}, 36%, 44%)`,
      swingShare: -0.07,
    }),
  ].join('');
}

/**
 * Derives the palette, the sun's position as a share of the width, and the height of the hills from
 * 0 to 1.
 */
function deriveTraits(text: string): {
  palette: (typeof PALETTES)[number];
  sunX: number;
  hillLift: number;
} {
  const digest = createHash('sha256').update(text).digest();
  return {
    palette: PALETTES[digest.readUInt8(0) % PALETTES.length] ?? PALETTES[0],
    sunX: 0.15 + (digest.readUInt8(1) / 255) * 0.7,
    hillLift: digest.readUInt8(2) / 255,
  };
}

/** A range of hills: its top on the card, and its swing around that as a share of the height. */
interface Hills {
  readonly top: number;
  readonly colour: string;
  readonly swingShare: number;
}

function renderHills({ width, height }: Box, { top, colour, swingShare }: Hills): string {
  const dip = height * swingShare;
  const curve = `M0 ${top} C${width * 0.25} ${top - dip * 2} ${width * 0.35} ${top + dip} ${width * 0.55} ${top}`;
  return `<path d="${curve} S${width * 0.85} ${top + dip} ${width} ${top - dip} V${height} H0 Z" fill="${colour}"/>`;
}
