import { createHash } from 'node:crypto';
import { MAX_IMAGE_BYTES } from '../../wire/index.ts';
import { usageError } from '../errors.ts';
import { checkImageContent, checkImageSize, type ImageSource, SNIFFED_BYTES } from './image-source.ts';

/** An image whose bytes came from where they can't be read again. */
export async function imageInMemory(bytes: Uint8Array, name: string): Promise<ImageSource> {
  if (bytes.length > MAX_IMAGE_BYTES) {
    throw usageError(`image ${name} has more than 20 MiB; the service takes at most that an image`);
  }
  checkImageSize(bytes.length, name);
  await checkImageContent(bytes.subarray(0, SNIFFED_BYTES), name);
  return {
    kind: 'bytes',
    name,
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    async *chunks() {
      yield bytes;
    },
  };
}
