import type { ConversionContext } from '../conversion-context.ts';
import type { SourcePlace } from '../files/source-files.ts';

/** Media types of images by the extension of their file. */
const IMAGE_TYPE_BY_EXTENSION: ReadonlyMap<string, string> = new Map([
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['png', 'image/png'],
  ['gif', 'image/gif'],
  ['bmp', 'image/bmp'],
  ['webp', 'image/webp'],
  ['svg', 'image/svg+xml'],
]);

/** The beginnings of images in base64, which take precedence over the file's extension. */
const IMAGE_SIGNATURES: readonly (readonly [signature: string, mediaType: string])[] = [
  ['/9j/', 'image/jpeg'],
  ['iVBORw0KGgo', 'image/png'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['Qk', 'image/bmp'],
];

const SOUND_OR_VIDEO_EXTENSION =
  /\.(?:mp4|webm|ogg|mov|avi|wmv|mkv|m4v|wav|mp3|aac|m4a|flac|wma|aiff|opus)$/iu;

/** Reads an image as a `data:` URL, and sound or video in base64; undefined for other files. */
export function readMediaVariable(
  file: string,
  place: SourcePlace,
  conversion: ConversionContext,
): string | undefined {
  const typeByName = IMAGE_TYPE_BY_EXTENSION.get(file.split('.').at(-1)?.toLowerCase() ?? '');
  if (typeByName === undefined) {
    return SOUND_OR_VIDEO_EXTENSION.test(file)
      ? conversion.files.readBase64(file, place)
      : undefined;
  }

  const content = conversion.files.readBase64(file, place);
  const [, mediaType = typeByName] =
    IMAGE_SIGNATURES.find(([signature]) => content.startsWith(signature)) ?? [];
  return `data:${mediaType};base64,${content}`;
}
