import { fileTypeFromBuffer } from 'file-type';

/** A picture small enough to be shown between lines of text. */
export interface Miniature {
  readonly width: number;
  readonly height: number;
  readonly png: Buffer;
  /** Red, green, blue, alpha for each pixel, rows from the top. */
  readonly pixels: Uint8Array;
}

const WIDEST = 360;
const HIGHEST = 240;
/** What the renderer can read. */
const READABLE = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Draws a picture again, no larger than 360 by 240 pixels. @throws where it can't be read */
export async function miniature(bytes: Uint8Array): Promise<Miniature> {
  const type = await fileTypeFromBuffer(bytes);
  if (type === undefined || !READABLE.has(type.mime)) throw new Error("this kind of picture can't be drawn");
  const { Resvg } = await import('@resvg/resvg-js');
  const href = `data:${type.mime};base64,${Buffer.from(bytes).toString('base64')}`;
  const image = `<image href="${href}" width="${WIDEST}" height="${HIGHEST}" preserveAspectRatio="xMinYMin meet"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDEST}" height="${HIGHEST}">${image}</svg>`;
  const drawing = new Resvg(svg, { font: { loadSystemFonts: false } });
  const box = drawing.getBBox();
  if (box !== undefined) drawing.cropByBBox(box);
  const drawn = drawing.render();
  return { width: drawn.width, height: drawn.height, png: drawn.asPng(), pixels: drawn.pixels };
}
