const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
  'image/apng': 'apng',
  'image/bmp': 'bmp',
  'image/tiff': 'tiff',
  'image/heic': 'heic',
  'image/jxl': 'jxl',
  'image/svg+xml': 'svg',
  'image/x-icon': 'ico',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
  'video/x-matroska': 'mkv',
  'video/mpeg': 'mpg',
  'video/ogg': 'ogv',
};

/** Types that say nothing about what the bytes are. */
const UNTOLD = new Set(['', 'application/octet-stream', 'binary/octet-stream', 'application/binary']);

/** The media type of a `Content-Type` header, without its parameters, in lower case. */
export function mediaTypeOf(header: string | undefined): string {
  return (header ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** Whether a header leaves open what the bytes are. */
export function isUntold(mediaType: string): boolean {
  return UNTOLD.has(mediaType);
}

/** Whether bytes of this type may be what an output of type `image` or `video` names. */
export function fits(mediaType: string, outputType: string): boolean {
  return isUntold(mediaType) || mediaType.startsWith(`${outputType}/`);
}

/** The extension files of a type usually have, without a dot; undefined where the type is not known. */
export function extensionOf(mediaType: string): string | undefined {
  return Object.hasOwn(EXTENSIONS, mediaType) ? EXTENSIONS[mediaType] : undefined;
}
