import type { LoadedImage } from './loaded-image.ts';
import { imageSize } from './size.ts';

/** A picture in words, for engines that only know text: its format, its size in pixels and in bytes. */
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
