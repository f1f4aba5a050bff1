import type { Context } from '../../context.ts';
import type { ImageSource } from './image-source.ts';
import { openImage } from './open-image.ts';

/** Pictures as URLs: files and standard input as `data:` URLs, URLs as they are, of any kind. Fetches nothing. */
export async function pictureUrls(ctx: Context, given: readonly string[]): Promise<string[]> {
  const urls: string[] = [];
  for (const image of given) {
    urls.push(isUrl(image) ? image : await dataUrlOf(await openImage(ctx, image)));
  }
  return urls;
}

function isUrl(given: string): boolean {
  return /^(?:data:|[a-z][a-z0-9+.-]*:\/\/)/iu.test(given);
}

async function dataUrlOf(image: ImageSource): Promise<string> {
  if (image.kind === 'url') return image.url;
  const chunks: Uint8Array[] = [];
  for await (const chunk of image.chunks()) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const { fileTypeFromBuffer } = await import('file-type');
  const type = (await fileTypeFromBuffer(bytes))?.mime ?? 'application/octet-stream';
  return `data:${type};base64,${bytes.toString('base64')}`;
}
