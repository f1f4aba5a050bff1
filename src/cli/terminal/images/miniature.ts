import { fileTypeFromBuffer } from 'file-type';

/** An image that is small enough to show between lines of text. */
export interface Miniature {
  readonly width: number;
  readonly height: number;
  readonly png: Buffer;
  /** Red, green, blue and alpha of each pixel, row by row from the top. */
  readonly pixels: Uint8Array;
}

/** The formats that the renderer supports. */
const READABLE_MEDIA_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/**
 * Maximum number of pixels to decode, because a small file may decode to an image that fills the
 * memory.
 */
const MAX_PIXELS = 50_000_000;

/** Scales an image down to at most `maxSize`, never up. @throws {Error} if it can't be read */
export async function createMiniature(
  bytes: Uint8Array,
  maxSize: { readonly width: number; readonly height: number },
): Promise<Miniature> {
  const type = await fileTypeFromBuffer(bytes);
  if (type === undefined || !READABLE_MEDIA_TYPES.has(type.mime)) {
    throw new Error("this kind of picture can't be drawn");
  }

  const { Resvg } = await import('@resvg/resvg-js');
  const href = `data:${type.mime};base64,${Buffer.from(bytes).toString('base64')}`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg"><image href="${href}"/></svg>`;
  const font = { loadSystemFonts: false };
  const { width, height } = new Resvg(svg, { font });
  if (width * height > MAX_PIXELS) throw new Error('the picture is too large for a preview');

  const scale = Math.min(1, maxSize.width / width, maxSize.height / height);
  const fitTo = { mode: 'width' as const, value: Math.max(1, Math.round(width * scale)) };
  const image = new Resvg(svg, { font, fitTo }).render();
  const { pixels } = image;
  if (pixels.every(value => value === 0)) throw new Error('the picture is fully transparent');

  return { width: image.width, height: image.height, png: image.asPng(), pixels };
}
