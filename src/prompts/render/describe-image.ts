import { imageSize } from 'image-size';
import type { LoadedImage } from './loaded-image.ts';

/**
 * Describes a picture for engines that only know text: its format, its size in pixels and in bytes.
 *
 * @param size of all of it, if `bytes` are only its beginning
 */
export function describeImage({ bytes, mediaType }: LoadedImage, size = bytes.length): string {
  const format = mediaType
    .replace(/^image\//, '')
    .replace(/^x-|\+xml$/g, '')
    .toUpperCase();
  return `${format} image${pixelsOf(bytes, mediaType)}, ${byteCount(size)}`;
}

const MEASURED = new Set(['png', 'apng', 'gif', 'bmp', 'jpeg', 'webp'].map(format => `image/${format}`));

/** A JPEG may consist of empty segments, which are looked at one by one: no more of it is read. */
export const MEASURED_BYTES = 512 * 1024;

/** Width and height as the file says; nothing where the format is not known or the file is cut short. */
function pixelsOf(bytes: Buffer, mediaType: string): string {
  try {
    const { width = 0, height = 0 } = MEASURED.has(mediaType)
      ? imageSize(bytes.subarray(0, MEASURED_BYTES))
      : {};
    return width > 0 && height > 0 ? `, ${width} × ${height} pixels` : '';
  } catch {
    return '';
  }
}

function byteCount(count: number): string {
  if (count < 1000) return `${count} ${count === 1 ? 'byte' : 'bytes'}`;
  if (count < 999_950) return `${(count / 1000).toFixed(1)} kB`;
  return `${(count / 1_000_000).toFixed(1)} MB`;
}
