import { imageSize } from 'image-size';
import type { LoadedImage } from './loaded-image.ts';

/**
 * Describes an image for engines that take only text: its format and its size in pixels and bytes.
 *
 * @param totalBytes the size of the whole image if `bytes` are only its beginning
 */
export function describeImage(
  { bytes, mediaType }: LoadedImage,
  totalBytes = bytes.length,
): string {
  const format = mediaType
    .replace(/^image\//, '')
    .replace(/^x-|\+xml$/g, '')
    .toUpperCase();
  return `${format} image${describeDimensions(bytes, mediaType)}, ${formatBytes(totalBytes)}`;
}

const MEASURED_IMAGE_TYPES = new Set(
  ['png', 'apng', 'gif', 'bmp', 'jpeg', 'webp'].map(format => `image/${format}`),
);

/**
 * Number of bytes to read for the size: reading each of a JPEG's segments takes a step, and they
 * may all be empty.
 */
export const MAX_MEASURED_BYTES = 512 * 1024;

/** Returns width and height; empty if the format is unknown or the file is cut short. */
function describeDimensions(bytes: Buffer, mediaType: string): string {
  try {
    const { width = 0, height = 0 } = MEASURED_IMAGE_TYPES.has(mediaType)
      ? imageSize(bytes.subarray(0, MAX_MEASURED_BYTES))
      : {};
    return width > 0 && height > 0 ? `, ${width} × ${height} pixels` : '';
  } catch {
    return '';
  }
}

function formatBytes(count: number): string {
  if (count < 1000) return `${count} ${count === 1 ? 'byte' : 'bytes'}`;
  if (count < 999_950) return `${(count / 1000).toFixed(1)} kB`;
  return `${(count / 1_000_000).toFixed(1)} MB`;
}
