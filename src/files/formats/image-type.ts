import { isPng } from '../read-text.ts';

const SNIFFED_BYTES = 4100;

/**
 * Returns the media type of an image by its content; undefined if it is not one. SVG can hold
 * scripts, so it does not count.
 */
export async function detectImageType(bytes: Buffer): Promise<string | undefined> {
  // Its signature is enough, so that a truncated PNG is still recognised.
  if (isPng(bytes)) return 'image/png';
  const { fileTypeFromBuffer } = await import('file-type');
  // Bounds the work on nested formats: the beginning of a file is enough.
  const type = await fileTypeFromBuffer(bytes.subarray(0, SNIFFED_BYTES));
  return type?.mime.startsWith('image/') && type.mime !== 'image/svg+xml' ? type.mime : undefined;
}
