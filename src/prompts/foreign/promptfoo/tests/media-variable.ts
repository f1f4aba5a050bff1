import type { ConversionContext } from '../conversion-context.ts';
import type { Located } from '../files/source-files.ts';

const IMAGE_SIGNATURES: Readonly<Record<string, string>> = {
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  bmp: 'image/bmp',
  webp: 'image/webp',
  svg: 'image/svg+xml',
};

/** The beginnings of pictures in base64, which count more than the names of files. */
const BEGINNINGS: readonly (readonly [string, string])[] = [
  ['/9j/', 'image/jpeg'],
  ['iVBORw0KGgo', 'image/png'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['Qk', 'image/bmp'],
];

const SOUND_OR_FILM =
  /\.(?:mp4|webm|ogg|mov|avi|wmv|mkv|m4v|wav|mp3|aac|m4a|flac|wma|aiff|opus)$/iu;

/**
 * Returns the content of a picture as a `data:` address, that of sound and film in base64;
 * undefined for other files.
 */
export function readMediaVariable(
  name: string,
  at: Located,
  conversion: ConversionContext,
): string | undefined {
  const type = IMAGE_SIGNATURES[name.split('.').at(-1)?.toLowerCase() ?? ''];
  if (type === undefined) {
    return SOUND_OR_FILM.test(name) ? conversion.files.readBase64(name, at) : undefined;
  }
  const content = conversion.files.readBase64(name, at);
  const [, found = type] = BEGINNINGS.find(([beginning]) => content.startsWith(beginning)) ?? [];
  return `data:${found};base64,${content}`;
}
