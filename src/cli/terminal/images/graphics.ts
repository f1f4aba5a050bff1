import type { TerminalContext } from '../terminal-context.ts';
import type { Miniature } from './miniature.ts';

/** A protocol that shows images on a terminal. */
interface Graphics {
  /** Turns an image into the characters that make a terminal draw it. */
  readonly draw: (image: Miniature) => string;
  /** The maximum size of an image, in pixels. */
  readonly maxSize: { readonly width: number; readonly height: number };
}

/** The maximum size of an image in a protocol for images, in pixels. */
const MAX_IMAGE_SIZE = { width: 360, height: 240 };

/** The maximum size of an image of half blocks, in pixels. */
const MAX_BLOCK_IMAGE_SIZE = { width: 48, height: 32 };

/** Pixels with a lower alpha, of 255, count as transparent. */
const MIN_VISIBLE_ALPHA = 128;

/** Maximum number of characters in a chunk of kitty's protocol. */
const KITTY_CHUNK_LENGTH = 4096;

/**
 * Returns the protocol for images on standard output; undefined if the terminal is not known to
 * support one.
 */
export async function detectGraphics(ctx: TerminalContext): Promise<Graphics | undefined> {
  const { env, io } = ctx;
  if (!io.stdout.isTerminal || env.ACCESSIBLE || env.TERM === 'dumb') return undefined;
  return (
    (await detectProtocol(env)) ??
    (io.paint.level === 3 ? { draw: drawHalfBlocks, maxSize: MAX_BLOCK_IMAGE_SIZE } : undefined)
  );
}

async function detectProtocol(env: TerminalContext['env']): Promise<Graphics | undefined> {
  // A multiplexer would swallow the sequences or draw the image in the wrong place.
  if (env.TMUX || env.STY || /^(?:screen|tmux)/u.test(env.TERM ?? '')) return undefined;
  const { createSupportsTerminalGraphics } = await import('supports-terminal-graphics');
  const protocols = createSupportsTerminalGraphics({ isTTY: true });
  if (protocols.kitty) return { draw: encodeKitty, maxSize: MAX_IMAGE_SIZE };
  if (protocols.iterm2) return { draw: encodeIterm2, maxSize: MAX_IMAGE_SIZE };
  return protocols.sixel ? { draw: encodeSixel, maxSize: MAX_IMAGE_SIZE } : undefined;
}

/** Encodes an image for kitty, in chunks, because it accepts no long sequences. */
export function encodeKitty({ png }: Miniature): string {
  const base64 = png.toString('base64');
  const pieces = base64.match(new RegExp(`.{1,${KITTY_CHUNK_LENGTH}}`, 'gu')) ?? [];
  return pieces
    .map((piece, index) => {
      // f=100: PNG; a=T: show it at once; q=2: no response; m: more chunks follow.
      const settings = index === 0 ? 'f=100,a=T,q=2,' : '';
      return `\u001B_G${settings}m=${index < pieces.length - 1 ? 1 : 0};${piece}\u001B\\`;
    })
    .join('');
}

export function encodeIterm2({ png, width, height }: Miniature): string {
  const facts = `inline=1;size=${png.length};width=${width}px;height=${height}px;preserveAspectRatio=1`;
  return `\u001B]1337;File=${facts}:${png.toString('base64')}\u0007`;
}

/**
 * Draws an image with half blocks in 24-bit colour, for terminals without an image protocol: a
 * cell is two pixels high.
 */
export function drawHalfBlocks({ width, height, pixels }: Miniature): string {
  const findColour = (x: number, y: number): Colour | undefined => {
    const [red = 0, green = 0, blue = 0, alpha = 0] = pixels.subarray((y * width + x) * 4);
    return y >= height || alpha < MIN_VISIBLE_ALPHA ? undefined : [red, green, blue];
  };
  const lines = Array.from({ length: Math.ceil(height / 2) }, (_, row) => {
    const cells = Array.from({ length: width }, (_, x) =>
      drawCell(findColour(x, row * 2), findColour(x, row * 2 + 1)),
    );
    return `${cells.join('')}\u001B[0m`;
  });
  return lines.join('\n');
}

type Colour = readonly [red: number, green: number, blue: number];

function drawCell(upperColour: Colour | undefined, lowerColour: Colour | undefined): string {
  if (upperColour === undefined && lowerColour === undefined) return '\u001B[0m ';
  if (upperColour === undefined) return `\u001B[0;38;2;${lowerColour?.join(';')}m▄`;
  if (lowerColour === undefined) return `\u001B[0;38;2;${upperColour.join(';')}m▀`;
  return `\u001B[38;2;${upperColour.join(';')};48;2;${lowerColour.join(';')}m▀`;
}

/** The number of levels of red, of green and of blue, which makes 216 colours. */
const COLOUR_LEVEL_COUNT = 6;

/** The number of rows of pixels that a line of sixels draws. */
const SIXEL_BAND_HEIGHT = 6;

/**
 * Encodes an image as sixels with a palette of 216 colours; transparent pixels keep the
 * background.
 */
export function encodeSixel({ width, height, pixels }: Miniature): string {
  const colours = computePaletteIndices(pixels, width * height);
  const usedColours = [...new Set(colours)]
    .filter(colour => colour >= 0)
    .toSorted((one, other) => one - other);
  const bands = Array.from({ length: Math.ceil(height / SIXEL_BAND_HEIGHT) }, (_, band) =>
    encodeBand(colours, {
      width,
      firstRow: band * SIXEL_BAND_HEIGHT,
      rowCount: Math.min(SIXEL_BAND_HEIGHT, height - band * SIXEL_BAND_HEIGHT),
    }),
  );
  return `\u001BP0;1q"1;1;${width};${height}${usedColours.map(encodePaletteEntry).join('')}${bands.join('-')}\u001B\\`;
}

/** Returns the palette index of each pixel; -1 if it is mostly transparent. */
function computePaletteIndices(pixels: Uint8Array, count: number): Int16Array {
  const toLevel = (value: number | undefined): number =>
    Math.round(((value ?? 0) / 255) * (COLOUR_LEVEL_COUNT - 1));
  return Int16Array.from({ length: count }, (_, pixel) => {
    const offset = pixel * 4;
    if ((pixels[offset + 3] ?? 0) < MIN_VISIBLE_ALPHA) return -1;
    return (
      (toLevel(pixels[offset]) * COLOUR_LEVEL_COUNT + toLevel(pixels[offset + 1])) *
        COLOUR_LEVEL_COUNT +
      toLevel(pixels[offset + 2])
    );
  });
}

/** Returns a palette entry; sixels use percentages. */
function encodePaletteEntry(colour: number): string {
  const toPercent = (value: number): number =>
    Math.round(((value % COLOUR_LEVEL_COUNT) / (COLOUR_LEVEL_COUNT - 1)) * 100);
  const [red, green, blue] = [
    colour / COLOUR_LEVEL_COUNT ** 2,
    colour / COLOUR_LEVEL_COUNT,
    colour,
  ].map(value => toPercent(Math.floor(value)));
  return `#${colour};2;${red};${green};${blue}`;
}

interface SixelBand {
  readonly width: number;
  readonly firstRow: number;
  /** The number of rows, at most six. */
  readonly rowCount: number;
}

/**
 * Encodes a band of rows: for each colour, a line of characters whose bits mark the rows that have
 * it.
 */
function encodeBand(colours: Int16Array, { width, firstRow, rowCount }: SixelBand): string {
  const lines = new Map<number, Uint8Array>();
  for (let row = 0; row < rowCount; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const colour = colours[(firstRow + row) * width + column] ?? -1;
      if (colour < 0) continue;
      const line = lines.get(colour) ?? new Uint8Array(width);
      line[column] = (line[column] ?? 0) | (1 << row);
      lines.set(colour, line);
    }
  }
  return [...lines].map(([colour, bits]) => `#${colour}${encodeRunLengths(bits)}`).join('$');
}

/** Encodes bits as characters, with run-length encoding. */
function encodeRunLengths(bits: Uint8Array): string {
  return String.fromCharCode(...bits.map(value => value + 63)).replace(
    /(.)\1{3,}/gsu,
    run => `!${run.length}${run[0]}`,
  );
}
