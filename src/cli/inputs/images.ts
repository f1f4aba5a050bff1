import { MAX_IMAGE_BYTES } from '../../wire/index.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';
import { openImageFile } from './image-file.ts';
import { imageInMemory } from './image-in-memory.ts';
import type { ImageSource } from './image-source.ts';
import { readStandardInput } from './read-text.ts';

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//iu;

/** Opens the images in their order; every one is checked before anything is sent. */
export async function openImages(ctx: Context, given: readonly string[]): Promise<ImageSource[]> {
  const images: ImageSource[] = [];
  for (const image of given) images.push(await openImage(ctx, image));
  return images;
}

/** An image from a file, an https URL, a data URL or `-` for standard input. Refuses what is none, exit 2. */
export async function openImage(ctx: Context, given: string): Promise<ImageSource> {
  if (given === '-') {
    return imageInMemory(await readStandardInput(ctx, MAX_IMAGE_BYTES), 'standard input');
  }
  if (/^data:/iu.test(given)) return imageInMemory(decodeDataUrl(given), 'the data URL');
  if (SCHEME.test(given)) return imageByUrl(given);
  return openImageFile(given, ctx.cwd);
}

function imageByUrl(given: string): ImageSource {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined) throw usageError(`image ${given} is no valid URL`);
  if (url.protocol !== 'https:') {
    throw usageError(
      `image ${given} is not an https URL; the service takes no other`,
      'Download the image and give the file instead.',
    );
  }
  return { kind: 'url', url: given, name: given };
}

function decodeDataUrl(given: string): Buffer {
  const comma = given.indexOf(',');
  const head = given.slice(0, comma);
  const data = given.slice(comma + 1);
  if (comma === -1) throw usageError('the data URL holds no comma and so no data');
  if (!/;base64$/iu.test(head)) return Buffer.from(decodePercent(data), 'latin1');
  const base64 = data.replace(/\s+/gu, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/u.test(base64) || base64.replace(/=+$/u, '').length % 4 === 1) {
    throw usageError('the data URL holds no valid base64');
  }
  return Buffer.from(base64, 'base64');
}

/** Percent-encoded bytes as one character each. */
function decodePercent(data: string): string {
  return data.replace(/%([0-9a-f]{2})/giu, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
