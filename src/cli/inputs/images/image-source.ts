import { createHash } from 'node:crypto';
import { MAX_IMAGE_BYTES } from '../../../wire/index.ts';
import { usageError } from '../../errors.ts';

/** An image to send: a URL as it is, or bytes that are read again each time they are sent. */
export type ImageSource =
  | { readonly kind: 'url'; readonly url: string; readonly name: string }
  | {
      readonly kind: 'bytes';
      /** Where it comes from, for messages. */
      readonly name: string;
      readonly size: number;
      /** Hexadecimal. */
      readonly sha256: string;
      /**
       * The bytes, in pieces of any size, each good until the next is asked for.
       *
       * @throws where they are no longer those that were checked
       */
      chunks(): AsyncIterable<Uint8Array>;
    };

/** How many bytes show what kind of file it is. */
export const SNIFFED_BYTES = 4100;

/** Refuses an image that is empty or larger than the service takes. */
export function checkImageSize(size: number, name: string): void {
  if (size === 0) throw usageError(`image ${name} is empty`);
  if (size > MAX_IMAGE_BYTES) {
    const mebibytes = (size / 1024 / 1024).toFixed(1);
    throw usageError(`image ${name} has ${mebibytes} MiB; the service takes at most 20 MiB an image`);
  }
}

/** Refuses bytes that are not the beginning of an image, whatever the file is called. */
export async function checkImageContent(beginning: Uint8Array, name: string): Promise<void> {
  if (beginsAsUsual(beginning)) return;
  const { fileTypeFromBuffer } = await import('file-type');
  const type = await fileTypeFromBuffer(beginning);
  if (type?.mime.startsWith('image/') === true) return;
  throw usageError(
    type === undefined ? `image ${name} is not an image` : `image ${name} is ${type.mime}, not an image`,
    'PNG, JPEG, WebP, GIF and the like are images.',
  );
}

/** How PNG, JPEG, GIF and WebP begin, in hexadecimal. */
const USUAL_BEGINNING = /^(?:89504e470d0a1a0a.{8}49484452|ffd8ff|474946383[79]61|52494646.{8}57454250)/u;

/** Whether it is one of the kinds that nearly all are: what knows the others takes long to load. */
function beginsAsUsual(beginning: Uint8Array): boolean {
  return USUAL_BEGINNING.test(Buffer.from(beginning.subarray(0, 16)).toString('hex'));
}

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
