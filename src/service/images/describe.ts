import type { LoadedImage } from './loaded-image.ts';

/** A description of a picture, for engines that only know text: its format, its size in pixels and in bytes. */
export function describeImage({ bytes, mediaType }: LoadedImage): string {
  const format = mediaType
    .replace(/^image\//, '')
    .replace(/^x-|\+xml$/g, '')
    .toUpperCase();
  const size = imageSize(bytes, mediaType);
  const pixels = size ? `, ${size.width} × ${size.height} pixels` : '';
  return `${format} image${pixels}, ${byteCount(bytes.length)}`;
}

function byteCount(count: number): string {
  if (count < 1000) return `${count} ${count === 1 ? 'byte' : 'bytes'}`;
  if (count < 999_950) return `${(count / 1000).toFixed(1)} kB`;
  return `${(count / 1_000_000).toFixed(1)} MB`;
}

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

type Measure = (bytes: Buffer) => ImageSize | undefined;

/** Width and height in pixels as the file says; undefined where the format is not known or the file is cut short. */
export function imageSize(bytes: Buffer, mediaType: string): ImageSize | undefined {
  try {
    const size = MEASURES.get(mediaType)?.(bytes);
    return size && size.width > 0 && size.height > 0 ? size : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const png: Measure = bytes => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) });
const gif: Measure = bytes => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) });
const bmp: Measure = bytes => ({ width: bytes.readInt32LE(18), height: Math.abs(bytes.readInt32LE(22)) });

/** A JPEG is a chain of segments; the one that starts a frame holds the size. */
const jpeg: Measure = bytes => {
  let at = 2;
  while (bytes.readUInt8(at) === 0xff) {
    const marker = bytes.readUInt8(at + 1);
    if (startsFrame(marker)) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
};

function startsFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

/** WebP comes in three kinds, each with its own place for the size. */
const webp: Measure = bytes => {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
};

const MEASURES: ReadonlyMap<string, Measure> = new Map([
  ['image/png', png],
  ['image/apng', png],
  ['image/gif', gif],
  ['image/bmp', bmp],
  ['image/jpeg', jpeg],
  ['image/webp', webp],
]);
